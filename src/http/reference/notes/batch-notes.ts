/** Descriptions of the operations on batches. */
export const BATCH_NOTES: Readonly<Record<string, string>> = {
  'POST /v1/batches':
    'Asks every line of a file in the background, within 24 hours and below the limits of the key. First all lines are checked, and nothing is asked if one is wrong. Each line is charged once, like a request of its own; `batch` is true in its usage. 409 under zero data retention.',
  'GET /v1/batches':
    'Lists batches, newest first. Send `last_id` as `after` for the next page. Batches are kept for 30 days.',
  'GET /v1/batches/{id}':
    'Returns a batch with its status, counts, usage and cost. The files with answers and errors are named once it has ended.',
  'POST /v1/batches/{id}/cancel':
    'Begins no further line. Lines that run may end, and what was answered is kept and charged; the others are `batch_cancelled` in the error file. 409 for a batch that has ended in another way.',
  'POST /v1/batches/{id}/retry':
    'Makes a batch of the lines that failed, expired or were cancelled, with the endpoint, metadata and choices of the batch. The lines are copied from its input file. 409 for a batch that has not ended, failed as a whole, or has an answer for each line.',
  'POST /v1/messages/batches':
    "Asks up to 100,000 messages in the background, in Anthropic's form. A request that is wrong is an error among the results; the others are asked. The requests are kept as a file of the purpose `batch`, and the results for 29 days. 409 under zero data retention.",
  'GET /v1/messages/batches':
    'Lists batches of messages, newest first. Send `last_id` as `after_id` for the next page, or `first_id` as `before_id` for the one before.',
  'GET /v1/messages/batches/{id}':
    'Returns a batch of messages with its status and counts. `results_url` is there once it has ended.',
  'POST /v1/messages/batches/{id}/cancel':
    'Begins no further request of the batch. Requests that run may end and are charged; the others are `canceled`.',
  'DELETE /v1/messages/batches/{id}':
    'Deletes a batch that has ended, with its requests and results. 409 for one that has not.',
  'GET /v1/messages/batches/{id}/results':
    'Streams the results of a batch that has ended: JSON, one result a line, `succeeded`, `errored`, `canceled` or `expired`.',
}
