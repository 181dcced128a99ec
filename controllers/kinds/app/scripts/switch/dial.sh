# stdin: the file that the proxy dials by, the address of each replica by commas, and 'cut' where WebSockets are dialled apart. The first
# is read of the file itself, others of files beside it (crds/app/lifecycle/scaling/streams.ts). Whole or not at all; whoever reads
# them is the proxy.
IFS= read -r file && IFS= read -r addresses && IFS= read -r cut || exit 64
mkdir -p "${file%/*}" || exit 1
put() { printf '%s' "$2" > "$1.partial" && chmod 644 "$1.partial" && mv "$1.partial" "$1"; }
place=1
for address in $(printf '%s' "$addresses" | tr ',' ' '); do
  slot=$file
  [ "$place" = 1 ] || slot="$file.$place"
  put "$slot" "$address" || exit 1
  [ -z "$cut" ] || put "$slot.ws" "[::ffff:${address%:*}]:${address##*:}" || exit 1
  place=$((place + 1))
done
