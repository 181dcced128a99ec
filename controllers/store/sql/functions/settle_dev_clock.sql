-- Everything that fell due by that move has been looked at.
create or replace function settle_dev_clock(in_moves bigint) returns void
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  update dev_clock set settled = greatest(settled, in_moves);
  perform pg_notify('bottega_clock', '');
end
$$;
