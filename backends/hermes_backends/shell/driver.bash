# The far half of the persistent shell (shell.py is the near half).
#
# The cast, all of them this one bash, forked:
#   root    holds the channel open until every shell is gone
#   waiter  parent of the shell: reports a shell that died by itself (`exec ls`, `kill -9 $$`)
#   shell   reads commands and runs them in itself, at top level, so that everything about them lasts
#   guard   a copy of the shell, forked before each command. It listens to the control stream meanwhile;
#           told to kill (or finding the stream closed) it ends the command's whole tree, the shell
#           included, and is the shell from then on: the state is as it was before that command.
# In the ordinary course the shell ends its guard and reports, and nothing is orphaned. `exit` runs the EXIT
# trap, where the old shell becomes the waiter of a forked copy of itself: the state outlives the exit.
#
# The parts between "#:" lines are kept as text and eval'ed, never put in functions: `declare` must be global.
# Only builtins are used: a guard that could not fork would be no guard against a fork bomb.
# File descriptors 13, 14, 15 (control, stdout, stderr) are bash's own saved copies, closed on exec, so a
# command's children can neither hold the channel open nor steal from it.

#: main
for __h_fd in /proc/self/fd/*; do
    __h_fd=${__h_fd##*/}
    [ "$__h_fd" -le 2 ] || [ "${10:+$__h_fd}" = 6 ] || eval "exec $__h_fd>&-"
done
unset __h_fd BASH_EXECUTION_STRING
if [ -n "${10}" ]; then
    . "${10}" 2>/dev/null
    rm -f -- "${10}"
fi
[ -z "$9" ] || cd -- "$9" 2>/dev/null || :
__h_nonce=$1 __h_shell=$2 __h_guard=$3 __h_waiter=$4 __h_exit=$5 __h_renew=$6 __h_main=$7
eval "$8"
__h_id=${11-0} __h_x=${12}
set --
__h_status() { return "$1"; }
__h_calm() {
    # The driver runs without the options that would trace or end it; the next command has them back.
    local on=
    case $- in *e*) on='-e ' ;; esac
    case $- in *x*) on+='-x ' ;; esac
    [[ ! -o pipefail ]] || on+='-o pipefail '
    set +ex +o pipefail
    case $on in
        -e*) __h_x="{ set $on; } 2>/dev/null"$'\n' ;;
        *) __h_x="{ ${on:+set $on;} __h_status $__h_code; } 2>/dev/null"$'\n' ;;
    esac
}
__h_code=0 __h_depth=0 __h_done= __h_back= __h_g= __h_in=
shopt -s expand_aliases lastpipe
exec 3<&0 4>&1 5>&2 </dev/null
if [ -n "$__h_id" ]; then
    {
        { eval "$__h_waiter"; } </dev/null >&4 2>&5 3<&- 4>&- 5>&-
    } 2>/dev/null | {
        exec 3<&- 4>&- 5>&- 2>/dev/null
        builtin read -r __h_fd
    }
else # renewed: the root is there already, and 6 is what it waits on
    exec >&6 6>&- 2>/dev/null
    { eval "$__h_waiter"; } </dev/null >&4 2>&5 3<&- 4>&- 5>&-
fi

#: shell
__h_s=$BASHPID
\trap '__h_code=$?; [ -n "$__h_done" ] || \eval "$__h_exit"' EXIT
\exec </dev/null >&14 2>&15
while [ -z "$__h_done" ]; do
    if [ -n "$__h_id" ]; then
        [ -z "$__h_back" ] || builtin cd -- "$__h_back" || :
        builtin printf '\036%s;E;%s;%s;%s\036' "$__h_nonce" "$__h_id" "$__h_code" "$PWD" || :
        builtin printf '\036%s;E;%s\036' "$__h_nonce" "$__h_id" >&2 || :
    fi
    [ "$__h_depth" -lt 40 ] || \eval "$__h_renew"
    __h_id= __h_op=
    IFS=' ' builtin read -r -u 13 __h_op __h_id __h_nc __h_ni __h_back || {
        [ $? -gt 128 ] || __h_done=1
        __h_id=
        continue
    }
    [ "$__h_op" = R ] || { __h_id=; continue; }
    LC_ALL=C builtin read -r -N "$__h_nc" -u 13 __h_cmd || :
    __h_in=
    [ "$__h_ni" = 0 ] || LC_ALL=C builtin read -r -N "$__h_ni" -u 13 __h_in || :
    [ -z "$__h_back" ] || __h_back=$PWD
    export HERMES_CALL="$__h_nonce.$__h_id."
    set +m
    shopt -s lastpipe
    { \eval "$__h_guard"; } | {
        builtin read -r __h_g || :
        \eval "$__h_x$__h_cmd"
        { __h_code=$? && __h_calm; } 2>/dev/null
        \exec 2>/dev/null >&14 </dev/null
        builtin kill -9 "$__h_g" || :
    }
    \exec 2>&15
done

#: guard
builtin printf '%s\n' "$BASHPID"
__h_g=$BASHPID
if [ -n "$__h_in" ]; then
    (builtin printf '%b' "$__h_in") &
fi
\exec >&14
while :; do
    __h_op= __h_k=
    IFS=' ' builtin read -r -u 13 __h_op __h_k || {
        [ $? -gt 128 ] && continue
        __h_sweep
        builtin exit 0
    }
    [ "$__h_op $__h_k" != "K $__h_id" ] || break
done
__h_sweep
__h_code=137 __h_x='__h_status 137
'
\eval "$__h_waiter"

#: waiter
__h_w=$BASHPID
: $((__h_depth += 1))
(\eval "$__h_shell")
builtin printf '\036%s;D;%s;%s\036' "$__h_nonce" "$__h_id" "$?" >&14 || :
builtin exit 0

#: exit
{ __h_calm; } 2>/dev/null
\exec </dev/null >&14 2>/dev/null
builtin kill -9 "$__h_g" "$__h_w" || :
builtin wait "$__h_g" || : # dying, it could still take a byte of the next command
\eval "$__h_waiter"

#: renew
# Each exit and each promotion nests one level deeper, and deep shells are slow: begin anew, in the same process.
__h_depth=0
if __h_file=$(__h_state); then
    shopt -s execfail
    builtin kill -9 "$__h_w"
    \exec 2>&11 # by way of 2, as a copy of 11 above 2 would be closed on exec like 11 itself
    \exec 6>&2
    \exec "$BASH" --norc --noprofile -c "$__h_main" bash "$__h_nonce" "$__h_shell" "$__h_guard" "$__h_waiter" \
        "$__h_exit" "$__h_renew" "$__h_main" "$(declare -f __h_sweep __h_state)" "" "$__h_file" "" "$__h_x" \
        <&13 >&14 2>&15
    shopt -u execfail
fi

#: functions
__h_sweep() {
    # Stop, then kill, all that the command started: what is in our session and younger than this guard,
    # the descendants of all that, and whatever carries the command's mark in its environment.
    local - IFS=' ' LC_ALL=C round signal=STOP stat pid victims me marked
    local -A doomed
    set +efux
    IFS= builtin read -r -N 4096 me </proc/$__h_g/stat
    builtin set -- ${me##*) }
    local session=$4 since=${20}
    for ((round = 0; round < 200; round++)); do
        victims=
        for stat in /proc/[0-9]*/stat; do
            pid=${stat#/proc/} pid=${pid%/stat}
            [ "$pid" != "$__h_g" ] || continue
            IFS= builtin read -r -N 4096 me 2>/dev/null <"$stat"
            builtin set -- ${me##*) }
            [ -n "$2" ] || continue
            if [ "$pid" != "$__h_s" ] && [ "$pid" != "$__h_w" ] && [ -z "${doomed[$pid]}" ]; then
                # Started in the same hundredth of a second: then the number tells who was first.
                [ "${20}" -gt "$since" ] || { [ "${20}" = "$since" ] && [ "$pid" -gt "$__h_g" ]; } || continue
                [ "$4" = "$session" ] || [ -n "${doomed[$2]}" ] || continue
            fi
            doomed[$pid]=1
            case $1$signal in Z* | X* | TSTOP | tSTOP) ;; *) victims+=" $pid" ;; esac
        done
        if [ -n "$victims" ]; then
            builtin kill -$signal $victims
        elif [ $signal = STOP ]; then
            signal=KILL
        else # only now is there surely room for a process of ours
            marked=
            for stat in $(HERMES_CALL= grep -ls "HERMES_CALL=$__h_nonce.$__h_id." /proc/[0-9]*/environ); do
                pid=${stat#/proc/} pid=${pid%/environ}
                [ "$pid" = "$__h_g" ] || [ -n "${doomed[$pid]}" ] || marked=1 doomed[$pid]=1
            done
            [ -n "$marked" ] || break
        fi
    done 2>/dev/null
}

__h_state() {
    # Write all that a background job inherits to a file only we can read, and print the file's name.
    local folder file
    for folder in "${TMPDIR:-/tmp}" /tmp /dev/shm "${HOME:-/}"; do
        file=$folder/.hermes-state-$__h_nonce-$__h_id
        (umask 077 && set -C && : >"$file") 2>/dev/null && break
        file=
    done
    [ -n "$file" ] || return 1
    {
        shopt -p
        declare -p
        declare -f
        alias -p
        umask -p
        builtin printf 'cd -- %q\n' "$PWD"
        builtin printf 'unset ${!__h_@} HERMES_CALL\n'
        set +o
    } >>"$file" && builtin printf '%s' "$file"
}
