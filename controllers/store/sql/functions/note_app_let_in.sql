-- What is open at the app was ended for who is let in now. Nothing where it has no route: then nothing is open.
create or replace function note_app_let_in(in_lease text, in_epoch bigint, in_app text, in_let_in jsonb) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  update app_routes t set let_in = in_let_in where t.app = in_app;
end
$$;
