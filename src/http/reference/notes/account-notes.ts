/** Descriptions of the operations on the caller's own account, by method and path. */
export const ACCOUNT_NOTES: Readonly<Record<string, string>> = {
  'GET /v1/tenants/me/permissions':
    'Returns what the key may do, and to whom it belongs. docs/rights.md says what each permission allows.',
  'GET /v1/tenants/me':
    'Returns the account that the key belongs to, its balance, its limits, what the key may do, the session, and what this ' +
    'gateway offers: all that a page needs at its start.',
  'GET /v1/tenants/me/api-keys':
    'Lists the keys of the account, newest first. The secret of a key is never shown again.',
  'POST /v1/tenants/me/api-keys':
    'Makes a key and returns its secret, this once. A key can only give what it has: scopes, models, limits and expiry of ' +
    'the key that asks bound those of the new one.',
  'GET /v1/tenants/me/api-keys/{id}': 'Returns one key without its secret.',
  'PATCH /v1/tenants/me/api-keys/{id}':
    'Changes a key. The answer comes when every process of the gateway knows the change.',
  'POST /v1/tenants/me/api-keys/{id}/rotate':
    'Gives a key a new secret and returns it, this once. Its id, rights, limits and usage stay. The former secret works as the same key until the ' +
    'overlap ends, a day unless told otherwise; a secret that is left from an earlier rotation ends at once. Sessions that began with the key end with its ' +
    'former secret. The answer comes when every process of the gateway knows the new one.',
  'DELETE /v1/tenants/me/api-keys/{id}':
    'Revokes a key. The answer comes when every process of the gateway refuses it; its running streams end.',
  'POST /v1/sessions':
    'Signs a person in with an API key, or with the code of a sign-in link, for pages of this gateway in a browser. The secret of the session is in an HttpOnly cookie, ' +
    'which counts only for requests of those pages (`Sec-Fetch-Site: same-origin`, or their `Origin`). The session ends with the key.',
  'GET /v1/sessions/methods':
    'Tells which ways to sign in this gateway offers, for the page where people do it. It needs no key and tells nothing about anybody.',
  'POST /v1/sessions/passkey/options':
    'Begins a sign-in with a passkey, for pages of this gateway. Nobody says who they are, so the answer is the same for everybody: the ' +
    'device offers the passkeys that it has for this host. The challenge works once, for five minutes, in the browser that got the cookie.',
  'POST /v1/sessions/passkey':
    'Signs a person in with the answer of their device to the challenge. The passkey decides the account. A passkey that is unknown, that ' +
    'answers wrong or late, or whose counter goes back is 401 `invalid_passkey` in the same words.',
  'POST /v1/sessions/current/confirm/passkey/options':
    'Begins to prove with a passkey who uses the session. The challenge counts for this session only.',
  'POST /v1/sessions/current/confirm/passkey':
    'Takes the answer of a passkey of the person of the session. Routes that ask for a fresh proof (403 `confirmation_required`) are then ' +
    'open for 15 minutes.',
  'GET /v1/identities':
    'Lists with which accounts of identity providers the person of the session signs in here. None for a key.',
  'POST /v1/identities':
    'Links one more: the person of the session signs in with it from now on. 409 if another member of the account comes in with it, or if the person has another ' +
    'account at this provider. Keys cannot do that.',
  'DELETE /v1/identities/{id}':
    'Removes one, and ends the sessions that began with it. The last way in of the person is kept (409), unless `even_if_last` is true.',
  'GET /v1/passkeys':
    'Lists the passkeys of the person of the session. They belong to the person in this account and open no other account.',
  'POST /v1/passkeys/options':
    'Begins to add a passkey for the person of the session, for instance of a second device. Keys cannot do that: a program with a key of ' +
    'the person must not make itself a way to sign in.',
  'POST /v1/passkeys': 'Adds the passkey that the device made. A person has at most 20 in an account.',
  'PATCH /v1/passkeys/{id}': 'Gives a passkey another name.',
  'DELETE /v1/passkeys/{id}':
    'Removes a passkey, at once for all processes. Sessions that began with it go on. The last way in of the person is kept (409), ' +
    'unless `even_if_last` is true.',
  'POST /v1/invites/read':
    'Tells where the link of an invitation, or of a recovery, leads. It uses nothing up, and needs the code itself.',
  'POST /v1/invites/passkey':
    'Begins to make a passkey for the person of a link, to send with `POST /v1/invites/accept`. It uses nothing up.',
  'GET /v1/sessions/directory/{id}/start':
    'Sends a browser to the identity provider. Its cookie ties the answer to this browser for ten minutes.',
  'GET /v1/sessions/directory/callback':
    'Finishes the sign-in that this browser began, and goes on to the page that the person wanted, or to the sign-in page with `problem`.',
  'POST /v1/sessions/directory/{id}/logout':
    'Takes the signed logout token of an identity provider, as a form. The sessions that it names end on every process. A token works once.',
  'GET /v1/sessions/directory/{id}/logout':
    'Ends the session that `sid` names, for an identity provider that shows this page in a frame when somebody signs out there.',
  'POST /v1/invites/accept':
    'Accepts an invitation with the code of its link and starts a session of the person in that account, as signing in does. The code is ' +
    'used up only by this, so that programs that open links do no harm. A link for recovery starts a session of its member in the same way.',
  'GET /v1/saved-chats':
    'Lists the prompts and conversations that the person keeps, over all their keys, and those that others share with the project. The last changed comes first.',
  'POST /v1/saved-chats':
    'Keeps a prompt or a conversation, encrypted, for the person or for everybody in the project. It costs nothing. Of each kind a person keeps 200: a further conversation deletes the oldest, a further prompt is refused. An account keeps 64 MiB. 409 under zero data retention, which also deletes what was kept.',
  'GET /v1/saved-chats/{id}':
    'Returns a saved chat with its content. What others keep for themselves is not found.',
  'PATCH /v1/saved-chats/{id}':
    'Changes the name, the visibility or the content. Absent members stay. Only who saved it may. The 30 days of a conversation begin anew.',
  'DELETE /v1/saved-chats/{id}': 'Deletes a saved chat at once. Only who saved it may.',
  'GET /v1/sessions': 'Lists the sessions that have not ended.',
  'DELETE /v1/sessions':
    'Ends all sessions of the person in this account but for that of the request, or those of the key. Running streams end within a second.',
  'GET /v1/sessions/current':
    'Returns where the session of the request works: account, person and project, and the projects that it may continue in.',
  'POST /v1/sessions/project':
    'Continues the session of the request in another project. It keeps the limits and the life of the key that it began with, has the rights of ' +
    'its person in that project, and sees only that project. A session of a key of a project stays in it. A project that it must not enter is 404.',
  'POST /v1/sessions/current/confirm':
    'Takes the key of the session once more, or a key that its person had before it began. Routes that change money or rights ask for this ' +
    'when the last proof is older than 15 minutes (403 `confirmation_required`). `GET /v1/sessions/current` tells the other ways.',
  'DELETE /v1/sessions/{id}': 'Ends a session. `current` is the session of the request.',
  'GET /v1/budget-alerts':
    'Lists when the account had spent a part of a budget, newest first. Each threshold raises one alert in a day or month of UTC, ' +
    'within seconds of the charge that reaches it.',
  'GET /v1/budget-alerts/settings':
    'Returns which parts of a budget raise an alert, and the webhook that is told.',
  'PATCH /v1/budget-alerts/settings':
    'Sets which parts of a budget raise an alert, and a webhook that is told. The webhook gets the signed event `budget.alert` with ' +
    'the alert as `data`. A threshold that is reached already raises its alert at once, if it has not in this period. ' +
    'The webhook and `statement_emails` also get the statements of months that are closed.',
  'GET /v1/statements':
    'Lists the months of the account since its first movement, newest first, with what changed the balance in each. A key of a project ' +
    'sees the charges of its project.',
  'GET /v1/statements/{month}':
    'Returns what changed the balance in a month of UTC: top-ups, promotional credit, charges by model, project, key and day, refunds, ' +
    'adjustments, and the balances before and after, to the nano-dollar as the ledger has them. A charge belongs to the month of its ledger ' +
    'entry. A month is closed minutes after its end; then the statement has a number and never changes.',
  'GET /v1/usage/budget':
    'Returns what the account spent in the current periods, and what its balance and budgets leave. `limiting_budgets` are those of the organization that limit ' +
    'the caller, and `outlook` takes them in.',
  'GET /v1/usage/summary':
    'Adds up requests, tokens and cost of a time range, beside the range of the same length before it.',
  'GET /v1/usage/today':
    'Adds up the current day in UTC, hour by hour, beside the same part of yesterday. `deprecated_models` names models of the last 30 days that will end.',
  'GET /v1/usage/anomalies':
    'Compares what the day cost so far, up to its last whole hour, with the median of the same hours of the last eight same weekdays in UTC. A day ' +
    'that costs at least three times as much, at least a dollar more, and far more than weekdays differ, is unusual: `anomaly` says by how ' +
    'much and which keys, models and projects are why.',
  'GET /v1/deprecations':
    'Returns the models that are deprecated or end soon and that keys of the account used in the last days, with those keys. A key that may not read usage sees only what it did itself.',
  'GET /v1/usage/timeseries':
    'Returns usage in buckets of an hour or a day, in total or split by key, model, provider or operation.',
  'GET /v1/usage/spending': 'Returns what was spent by key, model, provider or operation, the largest first.',
  'GET /v1/usage/gpu-billing': 'Returns what the deployments of the account cost.',
  'GET /v1/usage/latency':
    'Returns percentiles of the latency and of the time to the first token, in total, by hour or day, and by group.',
  'GET /v1/usage/records':
    'Lists requests, one row each, newest first: model, provider, tokens, cost, latency and how it ended.',
  'GET /v1/requests':
    'Lists requests, one entry each, newest first, with filters by time, model, provider, key, outcome, error, latency and cost.',
  'GET /v1/requests/{request_id}':
    'Returns one request with its timings and with every call of an upstream that was made for it.',
  'GET /v1/requests/{request_id}/body':
    'Returns the bodies of a request and of its answer, if they are stored. They are not unless somebody switched it on.',
  'GET /v1/body-storage':
    'Tells whether bodies of requests and answers are stored, for how long, and how much is stored.',
  'PATCH /v1/body-storage':
    'Sets whether bodies are stored, for the account or for one of its keys, if the operator lets accounts do that. Switching it off ' +
    'deletes them.',
  'PATCH /v1/tenants/me':
    'Sets the time zone in which the console offers days and months of the account. Windows of usage take it as `time_zone`; budgets and statements stay in UTC.',
  'GET /v1/payments/config': 'Tells which payment provider takes money here, and the amounts it takes.',
  'POST /v1/payments/checkout':
    'Opens a checkout and returns the address of the page to pay at. The credit arrives when the provider confirms.',
  'GET /v1/ledger':
    'Lists every movement of the credit, newest first: grants, charges, refunds, deductions and expired credit, each with the balance after ' +
    'it. A charge adds up the requests of some seconds and says which models and keys they are of. `format=csv` streams all movements as a file.',
  'GET /v1/payments/{id}/receipt':
    'Prints the receipt of a payment at the gateway’s own page for tests, as a PDF. It says that no money moved. Payments at a payment provider ' +
    'have its receipt in `receipt_url`.',
  'GET /v1/payments/auto-top-up':
    'Returns when the saved card is charged, what it was charged in this month, and the last failure. Pages where a card may just have been ' +
    'saved are looked up at the payment provider first.',
  'PATCH /v1/payments/auto-top-up':
    'Sets the threshold, the amount and the ceiling of a month, and switches the automatic top-up on or off. What is absent stays. Earlier ' +
    'failures are forgotten.',
  'POST /v1/payments/saved-card':
    'Returns the address of a page of the payment provider where a person saves a card, in place of an earlier one. It costs nothing, and the ' +
    'card is charged only by the automatic top-up, once that is switched on.',
  'DELETE /v1/payments/saved-card':
    'Removes the saved card here and at the payment provider, and switches the automatic top-up off. A charge that has begun is finished.',
  'GET /v1/payments/history': 'Lists what was bought, redeemed, adjusted and refunded, newest first.',
  'GET /v1/payments/{id}': 'Returns one payment. An open one is looked up at its provider first.',
  'POST /v1/promo/redeem': 'Redeems a code for promotional credit, which is spent before paid credit.',
}
