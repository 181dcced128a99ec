# stdin: slug, the file that the proxy dials by, the address of each replica by commas. The first is read of the file itself, others of files
# beside it (crds/app/lifecycle/scaling/streams.ts).
IFS= read -r slug && IFS= read -r file && IFS= read -r addresses || exit 64
mkdir -p "${file%/*}" || exit 1
place=1
for address in $(printf '%s' "$addresses" | tr ',' ' '); do
  slot=$file
  [ "$place" = 1 ] || slot="$file.$place"
  put_dial "$slot" "$address" || exit 1
  place=$((place + 1))
done
