"""What happens on a bad day: killed hosts, frozen clients, thousands of connections. Real processes, real sockets.

The short forms are tests. The long forms: `python tests/faults/run.py --help`.
"""
