-- What the request log shows beside usage: the attempts of a request, the model that was asked for, the end user.
-- Breaks nothing: a gateway of before writes no details.

-- Packed by modules/inference/request-details.ts: one column costs a commit less than several.
ALTER TABLE usage_records ADD COLUMN details text;
