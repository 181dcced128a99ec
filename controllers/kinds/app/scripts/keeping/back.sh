# stdin: as restore.sh. Of a restore that did not come to its end: puts back what the volume held, unless it is done, or was not touched.
case "$(stage_now)" in
  none) say outcome untouched;;
  done) say packed "$(cat "$here/kept/said") stopped"; say outcome 'done';;
  *) put_back || fail "$exit_not_restored" "$said"; say outcome back;;
esac
