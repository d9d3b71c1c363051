"""For people who test what they build on Holdfast: time and ids under control, a host in memory."""
