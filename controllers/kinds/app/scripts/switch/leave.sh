# stdin: project, the names of its services that go, by blanks. One that is not there has gone.
IFS= read -r project && IFS= read -r names || exit 64
for name in $names; do drop_one "$project" "$name" || exit 1; done
