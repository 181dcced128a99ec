-- Takes messages away, with the rows of their mails.
create or replace function drop_site_messages(in_ids text[]) returns void
language plpgsql
as $$
begin
  delete from outbox o where o.resource = any (array(select 'message/' || k from unnest(in_ids) k)) and o.purpose = 'message';
  delete from site_messages m where m.id = any (in_ids);
end
$$;
