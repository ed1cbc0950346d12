"""Hardware in the loop: a native FMU stepped in real time, with its controller in another process
or on another machine over UDP.
"""
