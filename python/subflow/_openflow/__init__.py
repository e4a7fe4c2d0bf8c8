"""The logic of the OpenFlow controller, without I/O: events go in, messages come out. `subflow.openflow` connects it.

======================================================  =====================
to find                                                 look in
======================================================  =====================
what switches are told                                  ``messages.py``
settings and their bounds                               ``settings.py``
LLDP and ARP frames                                     ``frames.py``
switches, ports, links, and how they are found          ``topology.py``
hosts, and answers to ARP                               ``hosts.py``
default routes, groups                                  ``default_routes.py``
subflows, their entries, bounds of tables               ``subflows.py``
packets that wait until switches have entries           ``waiting.py``
limits of what a port may send                          ``guard.py``
the load of links, from the counters of ports           ``load.py``
subflows and hosts of a controller that was restarted   ``adoption.py``
all of it together                                      ``controller.py``
what the status shows, and its HTTP server              ``status.py``
======================================================  =====================
"""
