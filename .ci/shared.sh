# What the sections of CI share; each begins with: . "$(dirname "${BASH_SOURCE[0]}")/shared.sh"
# It enters the root of the repository, sets the environment of all sections, and makes a temporary folder, `work`.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Tests that fail must not leave snapshots or seeds behind in the sources.
export CI=true INSTA_UPDATE=no PROPTEST_DISABLE_FAILURE_PERSISTENCE=true
# Every test must run: one that lacks something fails instead of passing without having tested anything.
export SUBFLOW_REQUIRE=${SUBFLOW_REQUIRE-all}
export PYTHONDONTWRITEBYTECODE=1

mkdir -p "${CARGO_TARGET_DIR:-target}"
target=$(realpath "${CARGO_TARGET_DIR:-target}")
work=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$work"' EXIT
# The environment of the Python package.
python=$target/python

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

# as_root COMMAND...
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# apt_install PACKAGE...
apt_install() {
    { as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@"; } > "$work/apt.log" 2>&1 ||
        { cat "$work/apt.log"; fail "apt-get cannot install $*"; }
}

# What tests are compiled with. Features are those of releases. The workspace is always selected as a whole, with test
# targets: for another selection cargo would choose other features of dependencies, and compile most crates again.
tests_of=(--workspace --features "${SUBFLOW_CI_FEATURES-subflow-cli/full,subflow-cli/ebpf,subflow-python/watch}")
# The tests that run in real time, against the kernel; all others run in virtual time, or wait for nothing.
live=(ebpf interop namespaces on_linux throughput usrsctp)
live_targets=(--test ebpf --test interop --test namespaces --test on_linux --bench throughput --test usrsctp)

# Compiles what the tests against the kernel take: with them all libraries, the command, and the Python extension.
compile_live_tests() {
    cargo build --profile test "${tests_of[@]}" --lib --bins "${live_targets[@]}" "$@"
}

# Sets `subflow` to the command with all parts, or to SUBFLOW_COMMAND. It is that of the tests, with debug assertions and
# overflow checks: it takes 1.3 times the CPU time of a release with all features, whose compilation takes longer than all
# that would run it.
whole_command() {
    [ -n "${SUBFLOW_COMMAND-}" ] || compile_live_tests --quiet
    subflow=$(realpath "${SUBFLOW_COMMAND:-$target/debug/subflow}")
}

# Whether scenarios can run on this kernel. Fails where they cannot and SUBFLOW_REQUIRE demands it.
runs_on_linux() {
    [ "$(id -u)" -ne 0 ] || [ ! -e /dev/net/tun ] || [ ! -e /proc/sys/net/mptcp/enabled ] ||
        ! unshare -n true 2> /dev/null || return 0
    local why='it takes root, /dev/net/tun and a kernel with MPTCP'
    case ,$SUBFLOW_REQUIRE, in
        *,all,* | *,kernel,*) fail "$why, which SUBFLOW_REQUIRE demands" ;;
    esac
    echo "SKIPPED: $why"
    return 1
}
