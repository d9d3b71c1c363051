"""The words the host and what stands beside it have in common.

The host decides and imports nothing that does; journals and agents do and know nothing of the host. What passes
between them is defined here: what is to be kept and read back (`journal`), what an agent is told and what it
says (`agent`). Values only.
"""
