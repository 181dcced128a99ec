-- What is taken may be first attempts alone. A version that is still running calls it without saying so.
drop function if exists turn_outbox(
  text, bigint, bigint[], integer[], text[], text[], timestamptz[], text, timestamptz, timestamptz, integer
);
