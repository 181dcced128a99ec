# stdin: slug, number, its project ('' for none), base project ('' where it is left as it is) and the document that it goes
# back to ('' for none: it goes as well, but for its volumes), ids of the images that are kept.
for name in project base_project base kept; do IFS= read -r "$name" || exit 64; done
# What it said last is kept, for it goes with it.
if [ -n "$project" ]; then docker compose -p "$project" logs --no-color -t --tail 100 </dev/null 2>&1 | tail -c 48000; fi
drop_trial "$here"
if [ -n "$project" ]; then down "$project" || exit 1; fi
if [ -n "$base" ]; then
  (umask 077; printf '%s\n' "$base" > "$app/base/compose.json") || exit 1
  docker compose -p "$base_project" -f "$app/base/compose.json" --project-directory "$app/base" \
    up -d --no-build --pull never --remove-orphans </dev/null 2>&1 || exit 1
elif [ -n "$base_project" ]; then
  down "$base_project" || exit 1
  rm -rf "$app/base"
fi
rm -rf "$here"
collect "$kept"
