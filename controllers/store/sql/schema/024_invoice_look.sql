-- What a pass looks at comes in one function, issuer and schedule with it: a version that is still running takes from it what
-- it took before.
drop function if exists observe_invoices(text[], text[], text[]);
drop function if exists schedule_of(text);
