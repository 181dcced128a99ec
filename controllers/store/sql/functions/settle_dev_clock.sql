-- Everything that fell due by that move has been looked at.
create or replace function settle_dev_clock(in_moves bigint) returns void
language plpgsql
as $$
begin
  update dev_clock set settled = greatest(settled, in_moves);
  perform pg_notify('bottega_clock', '');
end
$$;
