-- What an owner's other instances are committed to; of those that were deleted, what was seen of them since.
create or replace function devbox_committed(in_account text, in_but_not text) returns bigint
language sql stable
begin atomic
  -- One by one, for each has an index of its own: with `or` all instances of all accounts were read.
  select coalesce(sum(c.committed_micro_usd), 0)::bigint
  from (
    select d.committed_micro_usd from devboxes d
    where d.account = in_account and d.deleted_at is null and d.resource <> in_but_not
    union all
    select d.committed_micro_usd from devboxes d
    where d.account = in_account and d.deleted_at is not null and d.committed_micro_usd > 0 and d.resource <> in_but_not
  ) c;
end;
