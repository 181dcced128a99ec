# `build_in_cell <number>`: builds what `cell/<number>` names, in a container of the app's own: its root is nobody on this
# host, its network is an app's, its limits are those of the app, and its cache is no other app's. One at a time.
resolvers() {
  cat /etc/resolv.conf /run/systemd/resolve/resolv.conf 2>/dev/null |
    sed -n 's/^nameserver[[:blank:]]*\([0-9][0-9.]*\)[[:blank:]]*$/\1/p' | grep -v '^127\.' | sort -u | tr '\n' ' '
}
# Root of a cell administers what is the cell's alone; what reaches into the kernel and no build needs is closed to it.
closed_calls() {
  printf '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"action":"SCMP_ACT_ERRNO","errnoRet":38,"names":['
  for call in acct add_key bpf clock_settime delete_module fanotify_init finit_module init_module io_uring_enter io_uring_register \
    io_uring_setup iopl ioperm kcmp kexec_file_load kexec_load keyctl lookup_dcookie nfsservctl open_by_handle_at perf_event_open \
    quotactl quotactl_fd reboot request_key settimeofday swapoff swapon syslog userfaultfd; do printf '"%s",' "$call"; done
  printf '"vm86"]}]}'
}
in_cell() {
  docker run --rm -i --name "$place" --label dev.bottega.builder=1 --network "$place" --entrypoint /bin/sh \
    --cap-add SYS_ADMIN --security-opt no-new-privileges --security-opt "seccomp=$here/cell/calls.json" \
    --security-opt apparmor=unconfined --security-opt label=disable --security-opt systempaths=unconfined \
    --cpus "$cell_cpus" --memory "${cell_memory}m" --memory-swap "${cell_memory}m" --pids-limit "$cell_pids" \
    --ulimit "fsize=$((cell_room * 1048576))" --log-driver none --pull never --read-only --tmpfs /tmp:size=64m --tmpfs /run:size=64m \
    --mount "type=volume,src=$place,dst=/var/lib/buildkit,volume-label=dev.bottega.builder=1" -v "$one:/cell:ro" -v "$here/source:/source:ro" \
    ${key_folder:+-v "$key_folder/cell:/keys:ro"} \
    "$builder" -c "$cell" cell "$cell_seconds" "$cell_room" "$(resolvers)" <&6
}
# What comes out is an image without a name, and nothing else: whoever broke out of a build could have written it.
is_nameless() {
  files=$(tar -tf "$1") && kinds=$(tar -tvf "$1" | cut -c1 | sort -u | tr -d '\n') && manifest=$(tar -xOf "$1" manifest.json) || return 1
  layer='"blobs/sha256/[0-9a-f]{64}"'
  ! printf '%s\n' "$files" | grep -qvE '^(blobs/|blobs/sha256/([0-9a-f]{64})?|index\.json|manifest\.json|oci-layout)$' &&
    [ -z "$(printf '%s\n' "$files" | sort | uniq -d)" ] && case "$kinds" in *[!d-]*) false;; esac &&
    [ "$(printf '%s\n' "$manifest" | wc -l)" = 1 ] &&
    printf '%s\n' "$manifest" | grep -qxE "\[\{\"Config\":$layer,\"RepoTags\":null,\"Layers\":\[($layer(,$layer)*)?\]\}\]" &&
    ! tar -xOf "$1" index.json | LC_ALL=C grep -qE '\\|[^ -~]|image\.name|ref\.name'
}
# `bridge_network <name> <bridge>`
bridge_network() { docker network create --label dev.bottega.builder=1 -o "com.docker.network.bridge.name=$2" "$1" >/dev/null; }
build_in_cell() {
  one="$here/cell/$1"
  { IFS= read -r service && IFS= read -r name; } < "$one/names" || return 1
  rm -f "$here/line" && mkfifo -m 600 "$here/line" && exec 6<>"$here/line" || return 1
  # One of before that was ended from outside may have left it.
  bridge_network "$place" "$cell_bridge" 2>/dev/null || {
    docker rm -f "$place" ${gate:+"$gate_name"} >/dev/null 2>&1
    docker network rm "$place" >/dev/null 2>&1
    bridge_network "$place" "$cell_bridge"
  } || return 1
  printf '%s: %s\n' "$service" "$name"
  open_gate || { close_gate; docker network rm "$place" >/dev/null 2>&1; return 1; }
  (ulimit -f "$((cell_room * 2048))"; in_cell > "$one.tar")
  code=$?
  close_gate
  exec 6>&-
  refused=$(said_refused)
  refused=${refused#; }
  [ -z "$refused" ] || printf '%s\n' "$refused"
  docker network rm "$place" >/dev/null 2>&1
  if [ "$code" = 91 ]; then docker volume rm "$place" >/dev/null; fi
  [ "$code" = 0 ] || return "$code"
  is_nameless "$one.tar" || { echo 'the builder gave something else than an image'; return 1; }
  id=$(docker load -q -i "$one.tar" </dev/null | sed -n 's/^Loaded image[^:]*: *//p') && [ -n "$id" ] && docker tag "$id" "$name" || return 1
  rm -f "$one.tar"
}
# `build_once <number>`: not what is here, and what is the same as another of this release has its name beside that: what serves, works and
# migrates is mostly one image.
build_once() {
  { IFS= read -r service && IFS= read -r name; } < "$here/cell/$1/names" || return 1
  ! docker image inspect "$name" >/dev/null 2>&1 || return 0
  for same in $made; do
    [ "${same##*:}" = "${name##*:}" ] || continue
    docker tag "$same" "$name" || return 1
    same=${same##*/}
    printf '%s: the same image as %s\n' "$service" "${same%:*}"
    return 0
  done
  build_in_cell "$1"
}
# `have_image <field of the Host> <image> <what it does>`
have_image() {
  docker image inspect "$2" >/dev/null 2>&1 || { say pull "$1" "$2"; docker pull "$2" </dev/null 2>&1; } || {
    printf 'The image that %s, %s, is not on the host and cannot be pulled: put it there, or name another as %s of the Host.\n' "$3" "$2" "$1"
    return 1
  }
}
build_all_in_cell() {
  have_image builder "$builder" builds && { [ -z "$gate" ] || have_image gate "$gate" 'builds go through'; } || return 1
  number=0 made=''
  while [ "$number" -lt "$cells" ]; do
    build_once "$number" || return $?
    made="$made $name"
    number=$((number + 1))
  done
}
# Reads from stdin what `cell/` is to hold (cell.ts: cellLines).
read_cells() {
  for field in guard cell_id builder cell_cpus cell_memory cell_pids cell_room cell_seconds policy gate; do IFS= read -r "$field" || return 1; done
  place="bottega-build-$cell_id" cell_bridge="bt-$cell_id" gate_job='' refused=''
  gate_of "$cell_id"
  rm -rf "$here/cell" && mkdir -p "$here/cell/gate" && closed_calls > "$here/cell/calls.json" || return 1
  if [ -n "$gate" ]; then
    cell_bridge="bt-n${cell_id%?}"
    for file in gate.cfg names below closed; do IFS= read -r text && printf '%b' "$text" > "$here/cell/gate/$file" || return 1; done
  fi
  number=0
  while [ "$number" -lt "$cells" ]; do
    one="$here/cell/$number"
    mkdir "$one" && printf '%s\n' "$policy" > "$one/policy.json" || return 1
    IFS= read -r service && IFS= read -r name && IFS= read -r context && IFS= read -r recipe && IFS= read -r inline && IFS= read -r options || return 1
    printf '%s\n%s\n' "$service" "$name" > "$one/names" && printf '%s' "$context" > "$one/context" &&
      printf '%s' "$recipe" > "$one/recipe" && : > "$one/options" || return 1
    [ -z "$inline" ] || printf '%b' "$inline" > "$one/Dockerfile" || return 1
    while [ "$options" -gt 0 ]; do
      IFS= read -r option && printf '%s\n' "$option" >> "$one/options" || return 1
      options=$((options - 1))
    done
    number=$((number + 1))
  done
}
