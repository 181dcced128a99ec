-- What an owner's other instances are committed to; of those that were deleted, what was seen of them since.
create or replace function devbox_committed(in_account text, in_but_not text) returns bigint
language sql stable
begin atomic
  select coalesce(sum(d.committed_micro_usd), 0)::bigint from devboxes d
  where d.account = in_account and (d.deleted_at is null or d.committed_micro_usd > 0) and d.resource <> in_but_not;
end;
