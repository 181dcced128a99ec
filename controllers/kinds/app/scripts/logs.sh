# stdin: release project, base project, tail, since ('' for the tail). Lines with the engine's own time.
for name in release_project base_project tail since; do IFS= read -r "$name" || exit 64; done
for project in "$release_project" "$base_project"; do
  [ -n "$project" ] || continue
  if [ -n "$since" ]; then docker compose -p "$project" logs --no-color -t --since "$since" </dev/null 2>&1
  else docker compose -p "$project" logs --no-color -t --tail "$tail" </dev/null 2>&1; fi
done | tail -c 900000
exit 0
