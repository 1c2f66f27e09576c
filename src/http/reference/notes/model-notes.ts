/** Descriptions of the model operations, by method and path. */
export const MODEL_NOTES: Readonly<Record<string, string>> = {
  'GET /v1/models':
    'Lists the catalog: every model that the key may use, with its category, capabilities, limits and price. Filter by ' +
    '`category` to find the models of one operation. A model that is not ready says why in `not_ready_reason`.',
  'GET /v1/models/{id}':
    'Returns one model. An alias, such as the id another gateway uses, returns the model that serves it.',
  'POST /v1/chat/completions':
    "Sends a conversation to a model and returns its answer. The request and the answer have the form of OpenAI's chat " +
    'completions: tools, JSON schemas, images in, reasoning, log probabilities. With `stream: true` the answer arrives as ' +
    'server-sent events. If an upstream fails before the first token, the next configured route is tried. The answer is ' +
    'charged by the usage that the upstream reports; an error is free.',
  'POST /v1/completions':
    "Continues a text. The request and the answer have the form of OpenAI's legacy completions. Models that only chat " +
    'are asked through chat.',
  'POST /v1/responses':
    "Sends a prompt to a model and returns its answer in the form of OpenAI's Responses, for any chat model of the catalog. With " +
    '`stream: true` the answer arrives as named and numbered events. The response is stored unless `store` is false, and ' +
    '`previous_response_id` continues a stored one, whoever answered it. With `background: true` the answer is made as a task: ' +
    'the response is `queued`, and is read, followed or cancelled by its id.',
  'POST /v1/responses/compact':
    'Makes a summary of a conversation: `input`, a stored response or a conversation. Costs what a response of the same model costs. The ' +
    'item of the type `compaction` can be read by every model of this gateway.',
  'POST /v1/conversations':
    'Begins a conversation that responses continue with `conversation`. It is stored as long as a response after its last item, and counts as stored bytes. It costs nothing.',
  'GET /v1/conversations/{id}': 'A conversation without its items.',
  'POST /v1/conversations/{id}': 'Replaces the metadata of a conversation.',
  'DELETE /v1/conversations/{id}': 'Deletes a conversation with all its items.',
  'POST /v1/conversations/{id}/items': 'Adds up to 20 items behind the last one of a conversation.',
  'GET /v1/conversations/{id}/items': 'Lists what was said in a conversation, the newest first unless told.',
  'GET /v1/conversations/{id}/items/{item_id}': 'One item of a conversation.',
  'DELETE /v1/conversations/{id}/items/{item_id}':
    'Removes an item from a conversation. Later responses do not see it.',
  'POST /v1/responses/input_tokens':
    'Counts the tokens of a prompt, with those of the responses that it continues. It costs nothing and is limited like any request.',
  'GET /v1/responses/{id}':
    'A stored response, as its last event or its answer was; one in the background as it is now. With `stream=true` the events of a ' +
    'response that was made with `background` and `stream`, behind `starting_after`, until it has ended.',
  'POST /v1/responses/{id}/cancel':
    'Ends a response in the background. It costs what was made of it. One that has ended stays as it is.',
  'DELETE /v1/responses/{id}':
    'Deletes a stored response and what was asked for it. Responses that continue it cannot be continued any more.',
  'GET /v1/responses/{id}/input_items':
    'What the model was given for a response: the items of the responses that it continues, then its own input. Newest first ' +
    'unless `order` says otherwise.',
  'POST /v1/messages':
    "Sends a conversation to a model and returns its answer in the form of Anthropic's Messages, for any chat model of the " +
    'catalog. With `stream: true` the answer arrives as named events. Errors have the form of Anthropic too. Also served at ' +
    '`/anthropic/v1/messages`. The key may come in `x-api-key`.',
  'POST /v1/messages/count_tokens':
    'Counts the tokens of a prompt without asking a model. It costs nothing and counts as a request for the limits. Also ' +
    'served at `/anthropic/v1/messages/count_tokens`.',
  'GET /anthropic/v1/models/{id}':
    'A model in the form of Anthropic, by its id or an alias. `GET /v1/models/{id}` with the header `anthropic-version` answers the same.',
  'GET /anthropic/v1/models':
    'Lists the models that the key may use in the form of Anthropic, page by page. `GET /v1/models` answers so too when the ' +
    'request has the header `anthropic-version`.',
  'POST /v1/embeddings':
    'Turns each input into a vector. `encoding_format: "base64"` returns little-endian 32-bit floats, which is smaller.',
  'POST /v1/rerank':
    'Scores each document by its relevance to the query and returns the best `top_n` in order.',
  'POST /v1/moderations': 'Classifies text and pictures by category of harm, with a score for each category.',
  'GET /media/{token}':
    'Downloads a file that a task or a request made. The address is signed and needs no key; it stops working at the time ' +
    'in `expires_at`. `Range` is supported.',
  'POST /v1/images/generations':
    'Makes pictures from a prompt. A model that answers at once returns 200 with the pictures, a slower one 202 with a ' +
    'task. `Prefer: wait=30` waits for the task, `Prefer: respond-async` always makes one.',
  'POST /v1/images/edits':
    'Changes pictures by a prompt, inside a mask where one is given. Send the pictures as files of a form, or in a JSON body as ' +
    'URLs or base64.',
  'POST /v1/images/upscale': 'Enlarges one picture by a factor.',
  'POST /v1/images/bg-remove': 'Removes the background of one picture and returns it with transparency.',
  'POST /v1/videos/generations':
    'Starts a task that makes a video from a prompt, and from a first picture where one is given. The price is held now and ' +
    'charged when the task completes.',
  'POST /v1/audio/music': 'Starts a task that makes music from a prompt, with lyrics where they are given.',
  'POST /v1/audio/speech':
    'Speaks a text and returns the audio in `response_format`, as it is made. With `accept: application/json` it starts a ' +
    'task instead.',
  'POST /v1/audio/transcriptions':
    'Writes down what is said in an audio file. `response_format` chooses the form of the answer: JSON, JSON with times, ' +
    'plain text, SubRip or WebVTT.',
  'POST /v1/audio/translations': 'Writes down in English what is said in an audio file.',
  'GET /v1/audio/voices': 'Lists the voices that `POST /v1/audio/speech` takes, for one model or for all.',
  'GET /v1/queue/status':
    'Tells for each local model and each deployment of the account how many slots it has, how many are in use and how many ' +
    'requests wait, over all processes; which GPUs are free; and how many tasks wait and run.',
  'GET /v1/tasks':
    'Lists the tasks of the account, newest first. Filter by status, type or model. Results of old tasks are removed after ' +
    'the time that the operator sets.',
  'GET /v1/tasks/{id}':
    'Returns a task. With `wait` the answer comes when the task changes, or after that many seconds. `retry-after` says ' +
    'when to ask again.',
  'POST /v1/tasks/{id}/cancel':
    'Cancels a task that has not ended. What is refunded depends on whether the work had begun and on what the vendor bills; ' +
    'the answer says it. A task that has ended returns 409.',
  'POST /v1/tasks/{id}/retry':
    'Makes another task with the parameters, the webhook and the metadata of a task, at the price of today. Whatever state ' +
    'the task is in, it stays as it is. A task whose parameters have expired, and a background response, return 409.',
  'GET /v1/tasks/{id}/webhook-deliveries':
    'Lists each attempt to deliver the end of the task to its `webhook_url`, with the status and the time of the next attempt.',
  'GET /v1/webhook-deliveries':
    'Lists the webhook deliveries of all tasks of the account, with their attempts, those of the newest task first.',
  'POST /v1/webhook-deliveries/{id}/redeliver':
    'Calls a webhook again at once, under the same `webhook-id`, whether it was delivered, has failed or waits for its next attempt. ' +
    'Returns 409 while it is being called, and 429 within ten seconds of the last attempt.',
  'GET /v1/tenants/me/webhook-secret':
    'Returns the secret that signs the webhooks of the account, as in the Standard Webhooks specification. It is made on ' +
    'first use.',
  'POST /v1/tenants/me/webhook-secret/rotate':
    'Makes a new secret. Webhooks are signed with both secrets for a day, so that receivers can change without a gap.',
}
