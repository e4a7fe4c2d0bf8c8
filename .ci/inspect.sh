# What tshark says of our captures; for .ci/captures and .ci/kernel, which have `work` and `fail` from shared.sh.
# shellcheck shell=bash disable=SC2154

# inspect CAPTURE [FILTER]: every packet has good checksums, none is malformed, and every MPTCP connection has two
# subflows.
inspect() {
    local fields=(_ws.malformed _ws.expert.severity ip.version ip.checksum.status tcp.checksum.status
        udp.checksum.status mptcp.stream tcp.stream tcp.checksum)
    # -2: the keys that tell an MPTCP connection come after its first packet.
    tshark -2 -n -r "$1" ${2:+-Y "$2"} -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE \
        -T fields -E occurrence=l "${fields[@]/#/-e}" > "$work/fields.txt" 2> "$work/tshark.log" ||
        { cat "$work/tshark.log"; fail "tshark cannot read $1"; }
    awk -F '\t' -v capture="$(basename "$1")" '
        $1 != ""                               { bad("malformed") }
        $2 >= 8388608                          { bad("an error in tshark'\''s eyes") }
        $4 != ($3 == 4 ? 1 : "")               { bad("the IP checksum is not good") }
        ($5 != "") + ($6 != "") != 1           { bad("neither TCP nor UDP") }
        # 0xffff is zero, too (RFC 1624, section 3). Kernels send it now and then, and tshark objects.
        ($5 $6) != 1 && $9 != "0xffff"         { bad("the TCP or UDP checksum is not good") }
        $7 != "" && !(($7, $8) in seen)        { seen[$7, $8]; subflows[$7]++ }
        function bad(why) { if (complaints++ < 10) print "packet " NR ": " why ": " $0 }
        END {
            if (NR == 0) bad("the capture is empty")
            for (connection in subflows) {
                connections++
                if (subflows[connection] != 2)
                    bad("MPTCP connection " connection " has " subflows[connection] " subflow(s)")
            }
            if (connections == 0) bad("no MPTCP connection was recognised")
            printf "%-24s %7d packets, %d MPTCP connection(s)\n", capture, NR, connections
            exit complaints > 0
        }' "$work/fields.txt" || fail "$1"
}
# inspect_sctp CAPTURE: every CRC32c is good, nothing is malformed, both paths carry data, and NR-SACKs come back.
inspect_sctp() {
    tshark -n -r "$1" -o 'sctp.checksum:CRC 32c' -T fields -E occurrence=f \
        -e _ws.malformed -e sctp.checksum.status -e frame.interface_name -e sctp.chunk_type \
        > "$work/fields.txt" 2> "$work/tshark.log" || { cat "$work/tshark.log"; fail "tshark cannot read $1"; }
    awk -F '\t' -v capture="$(basename "$1")" '
        $1 != ""  { bad("malformed") }
        $2 != 1   { bad("the CRC32c is not good") }
        $4 == 0   { data[$3]++ }
        $4 == 16  { nr_sacks++ }
        function bad(why) { if (complaints++ < 10) print "packet " NR ": " why ": " $0 }
        END {
            for (interface in data) interfaces++
            if (interfaces < 2) bad("not every path carries data")
            if (nr_sacks == 0) bad("there is no NR-SACK")
            printf "%-24s %7d packets, %d NR-SACKs\n", capture, NR, nr_sacks
            exit complaints > 0
        }' "$work/fields.txt" || fail "$1"
}
