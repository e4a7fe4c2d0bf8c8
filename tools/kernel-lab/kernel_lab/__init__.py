"""Runs configurations of a network on a Linux kernel in a virtual machine whose clock counts instructions."""
