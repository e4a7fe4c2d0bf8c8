"""A client or a server of aioquic. Data is the pattern of support.rs, and each end compares every byte.

  aioquic_peer.py server CERTIFICATE KEY LENGTH          prints its port, serves one connection, prints how it has ended
  aioquic_peer.py client PORT CERTIFICATE LENGTH [0xVERSION]
"""

import asyncio
import ssl
import sys

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, StreamDataReceived

PROTOCOLS = ["test"]
NAME = "server.example"


def pattern(length, number):
    """The bytes of data with this number."""
    block = bytes(i * 31 & 255 for i in range(8191))
    data = (block * (length // 8191 + 1))[:length]
    out = bytearray()
    for start in range(0, length, 8192):
        mask = (start >> 13 ^ number * 97) & 255
        out += data[start : start + 8192].translate(bytes(i ^ mask for i in range(256)))
    return bytes(out)


class Peer(QuicConnectionProtocol):
    """Sends data 2 on the stream on which data 1 comes, or the reverse, and closes the connection as a server."""

    length = 0
    ended = None

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.received = bytearray()
        self.complete = asyncio.get_running_loop().create_future()

    def quic_event_received(self, event):
        if isinstance(event, StreamDataReceived):
            self.received += event.data
            if event.end_stream:
                self.on_end(event.stream_id)
        elif isinstance(event, ConnectionTerminated):
            if not self.complete.done():
                self.complete.set_result(False)
            if self.ended and not self.ended.done():
                self.ended.set_result(f"closed {event.error_code} {event.reason_phrase}")

    def on_end(self, stream):
        is_client = self._quic.configuration.is_client
        is_right = bytes(self.received) == pattern(self.length, 2 if is_client else 1)
        print("every byte is right" if is_right else f"WRONG after {len(self.received)} bytes", flush=True)
        if not is_client:
            self._quic.send_stream_data(stream, pattern(self.length, 2), end_stream=True)
            self.transmit()
        if not self.complete.done():
            self.complete.set_result(is_right)


async def server(certificate, key, length):
    configuration = QuicConfiguration(is_client=False, alpn_protocols=PROTOCOLS)
    configuration.load_cert_chain(certificate, key)
    Peer.length, Peer.ended = int(length), asyncio.get_running_loop().create_future()
    endpoint = await serve("127.0.0.1", 0, configuration=configuration, create_protocol=Peer)
    print(endpoint._transport.get_extra_info("sockname")[1], flush=True)
    print(await Peer.ended, flush=True)
    endpoint.close()


async def client(port, certificate, length, version="0x1"):
    configuration = QuicConfiguration(alpn_protocols=PROTOCOLS, server_name=NAME, verify_mode=ssl.CERT_REQUIRED)
    configuration.load_verify_locations(certificate)
    if version != "0x1":
        configuration.supported_versions = [int(version, 16)]
        configuration.original_version = int(version, 16)
    Peer.length, Peer.ended = int(length), asyncio.get_running_loop().create_future()
    try:
        async with connect("127.0.0.1", int(port), configuration=configuration, create_protocol=Peer) as peer:
            stream = peer._quic.get_next_available_stream_id()
            peer._quic.send_stream_data(stream, pattern(Peer.length, 1), end_stream=True)
            peer.transmit()
            await peer.complete
            peer.close(error_code=7, reason_phrase="all has arrived")
    except ConnectionError as error:
        print(f"no connection: {error}", flush=True)


asyncio.run({"server": server, "client": client}[sys.argv[1]](*sys.argv[2:]))
