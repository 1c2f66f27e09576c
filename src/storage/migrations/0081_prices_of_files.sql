-- A model of the catalog file that got a price over the API can have the price of the file again.
-- Breaks nothing: a new column. A process of the release before charges what the file said when the row was added.

ALTER TABLE model_prices
  -- From its moment on the price of the catalog file is charged, whatever the file says then.
  ADD COLUMN is_of_file boolean NOT NULL DEFAULT false;
