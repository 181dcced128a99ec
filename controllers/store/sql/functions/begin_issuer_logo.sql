-- Says that decoding begins, and how often that has been said.
create or replace function begin_issuer_logo(in_lease text, in_epoch bigint, in_seq bigint) returns integer
language plpgsql
as $$
declare
  now_tried integer;
begin
  perform fence(in_lease, in_epoch);
  update issuer_logos l set tries = l.tries + 1 where l.seq = in_seq and l.state = 'pending' returning l.tries into now_tried;
  return now_tried;
end
$$;
