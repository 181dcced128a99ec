-- What a pass over an app reads tells whether rows of it are left.
drop function if exists observe_app(text, text, text, timestamptz, integer);
