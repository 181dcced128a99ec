# What copies volumes: in a container of the host's own programs that sees nothing else. Each folder of /from goes to the one of
# the same name in /to. stdin, a line each, answered by one line: 'measure' (MiB that all have, and MiB that are free), 'disk'
# (MiB of that where they go, and MiB that are free), 'most' (all of it, while it is written to), 'same' (whether nothing changed meanwhile), 'more' (what did), 'rest' (what did again,
# while nobody writes), 'pack <bytes> <how>' (a compressed tar of /from/data into /to/kept/pack, if it has no more than that; says its
# bytes and their sha256; 'live' forgives what changes while it is read), 'weigh <bytes>' (whether it would), 'unpack' (/from/given/pack in
# place of all that /to/data has), 'verify <sha256>' (whether /from/given/pack is that; says MiB that it unpacks to). Its end is that of stdin.
PATH=/usr/sbin:/sbin:/usr/bin:/bin
export LC_ALL=C
said() { if [ "$1" = 0 ]; then echo ok; else echo "fault $(tail -n 1 /run/fault)"; fi; }
# `pour <file of names> <from> <to>`: a folder is made, and not gone into.
pour() {
  rm -f /run/short
  { tar -c -f - -S --xattrs --numeric-owner --no-recursion -C "$2" --null -T "$1" || : > /run/short; } |
    tar -xpf - --xattrs --xattrs-include='*' --numeric-owner -C "$3" && [ ! -e /run/short ]
}
# What is dirty in memory is written first: whoever writes into a page later on bears a later time.
most() {
  touch /run/mark && sync -f /from/* || return 1
  for volume in /from/*; do
    name=${volume##*/}
    find "$volume" -xdev ! -type s -printf '%P\0' | sed -z 's|^$|.|' > /run/files
    # A file that goes meanwhile, or grows, is made good by the rest.
    pour /run/files "$volume" "/to/$name" 2>/run/fault || :
  done
}
# Whether nothing was written since all of it was copied: then that is one moment of it.
same() {
  for volume in /from/*; do
    [ -z "$(find "$volume" -xdev ! -type s \( -newer /run/mark -o -cnewer /run/mark \) -print -quit)" ] || return 1
    find "$volume" -xdev ! -type s -printf '%y%P\0' | sort -z > /run/here
    find "/to/${volume##*/}" -xdev -printf '%y%P\0' | sort -z > /run/there
    cmp -s /run/here /run/there || return 1
  done
}
more() {
  touch /run/next && sync -f /from/* && { rest || :; } && mv /run/next /run/mark
}
rest() {
  for volume in /from/*; do
    name=${volume##*/}
    find "$volume" -xdev ! -type s -printf '%y%P\0' | sort -z > /run/here
    find "/to/$name" -xdev -printf '%y%P\0' | sort -z > /run/there
    comm -z -13 /run/here /run/there | sed -z 's/^.//; /^$/d' | (cd "/to/$name" && xargs -0 -r rm -rf --) || return 1
    { comm -z -23 /run/here /run/there | sed -z 's/^.//'
      find "$volume" -xdev ! -type s \( -newer /run/mark -o -cnewer /run/mark \) -printf '%P\0'
    } | sed -z 's|^$|.|' | sort -zu > /run/files
    [ ! -s /run/files ] || pour /run/files "$volume" "/to/$name" || return 1
  done
}
# Names that begin below the volume and go nowhere else: no link is followed, no other file system entered.
archive() {
  rm -f /run/short
  { tar -c -f - -S --xattrs --numeric-owner --one-file-system -C /from/data . 2>/run/fault
    code=$?
    case "$code $1" in 0\ *|'1 live') ;; *) : > /run/short;; esac
  } | gzip -1
}
# One byte too many is enough to know. What is written is no more than that, whatever the volume grows to.
pack() {
  if ! { archive "$2" | head -c "$(($1 + 1))" > /to/kept/pack && sync /to/kept/pack; }; then
    rm -f /to/kept/pack
    echo fault 'its host has no room for it'
    return
  fi
  bytes=$(stat -c %s /to/kept/pack)
  if [ "$bytes" -gt "$1" ]; then rm -f /to/kept/pack; echo large
  elif [ -e /run/short ]; then rm -f /to/kept/pack; said 1
  else echo "ok $bytes $(sha256sum < /to/kept/pack | cut -d' ' -f1)"; fi
}
weigh() { if [ "$(archive live | head -c "$(($1 + 1))" | wc -c)" -gt "$1" ]; then echo large; else echo ok; fi; }
verify() {
  if [ "$(sha256sum < /from/given/pack | cut -d' ' -f1)" != "$1" ]; then echo differs
  else echo "ok $(($(gzip -dc /from/given/pack | wc -c) / 1048576))"; fi
}
unpack() {
  [ -r /from/given/pack ] || { echo 'its pack cannot be read' >&2; return 1; }
  find /to/data -xdev -mindepth 1 -delete &&
    gzip -dc /from/given/pack | tar -xpf - --xattrs --xattrs-include='*' --numeric-owner -C /to/data && sync -f /to/data
}
while IFS= read -r what; do
  case "$what" in
    measure) echo "$(du -cxsm /from/* | tail -n 1 | cut -f1) $(df -Pm /to/* | awk 'NR == 2 { print $4 }')";;
    disk) df -Pm /to/* | awk 'NR == 2 { print $2, $4 }';;
    most|same|more|rest|unpack) "$what" 2>/run/fault; said $?;;
    'pack '*|'weigh '*|'verify '*) $what;;
    *) exit 64;;
  esac
done
