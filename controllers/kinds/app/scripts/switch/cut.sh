# stdin: project, the names of its services that are started anew, by blanks: what is open on them ends.
IFS= read -r project && IFS= read -r names || exit 64
for name in $names; do
  for id in $(ids_of "$project" "$name"); do docker restart -t 10 "$id" </dev/null >/dev/null 2>&1 || exit 1; done
done
