/** Descriptions of the operations for operators, monitoring and pages, by method and path. */
export const OPERATOR_NOTES: Readonly<Record<string, string>> = {
  'GET /v1/admin/usage':
    'Returns the usage of all accounts in groups, by account unless told otherwise: requests, tokens, cost, errors, latency and cache hits, each beside the same time before. `order=movers` finds what changed most, and `format=csv` is a file of all groups.',
  'GET /v1/admin/usage/timeseries':
    'Returns the usage of all accounts by hour or day of UTC, with series of the dearest accounts, models or other groups.',
  'GET /v1/admin/requests':
    'Returns the requests of all accounts, or of one, newest first, with what the client was told and what the upstream said. Filters combine; `error` finds a part of a code or message. A page reads a bounded number of requests, so that it may be short or empty and still have a `next_cursor`.',
  'GET /v1/admin/requests/live':
    'Streams the requests that end, of all processes and with the filters of the list, at most one event a second. It reads the log, so that a request is in it about a second after its end, under the time when it began. It ends with the key or the session, and when the gateway shuts down. Each process has at most 10 such streams.',
  'GET /v1/admin/requests/{request_id}':
    'Returns one request of any account with its timings, its attempts and what each upstream said.',
  'GET /v1/admin/request_errors':
    'Groups failed requests with the same error at the same provider, for the last 24 hours unless told otherwise: how many, first and last seen, and the accounts and models that have it.',
  'GET /v1/admin/requests/{request_id}/body':
    'Returns the bodies of a request of an account, if they are stored. The audit log records that they were read.',
  'GET /v1/admin/accounts/{id}/body-storage':
    'Tells whether bodies of the requests of an account are stored, for how long, and how much is stored.',
  'PATCH /v1/admin/accounts/{id}/body-storage':
    'Sets whether bodies of the requests of an account, or of one of its keys, are stored. Switching it off deletes them.',
  'POST /v1/admin/users/{id}/deactivate':
    'Deactivates a person in all accounts. The answer comes when every process of the gateway refuses their keys and sessions.',
  'POST /v1/admin/users/{id}/activate':
    'Activates a deactivated person. Their keys work again; their sessions have ended.',
  'GET /v1/admin/accounts':
    'Lists all accounts, or those that the filters find, newest first or sorted by balance, spend, growth or errors, also as CSV.',
  'POST /v1/admin/accounts': 'Makes an account. It has no key and no credit yet.',
  'GET /v1/admin/accounts/{id}': 'Returns one account with its balance.',
  'PATCH /v1/admin/accounts/{id}':
    'Writes a note about an account for operators, or deletes it. The account does not see it.',
  'POST /v1/admin/accounts/{id}/suspend':
    'Suspends an account. The answer comes when every process of the gateway refuses its keys. A reason is in the message of every refusal, so that the account reads it.',
  'POST /v1/admin/accounts/{id}/activate': 'Activates a suspended account. Its keys work again.',
  'GET /v1/admin/accounts/{id}/api-keys': 'Lists the keys of an account, newest first.',
  'POST /v1/admin/accounts/{id}/api-keys': 'Makes a key for an account and returns its secret, this once.',
  'PATCH /v1/admin/accounts/{id}/api-keys/{key_id}':
    'Changes the name, the rights and the limits of a key of an account. Every process follows at once.',
  'DELETE /v1/admin/accounts/{id}/api-keys/{key_id}':
    'Revokes a key of an account on every process of the gateway.',
  'POST /v1/admin/accounts/{id}/credit':
    'Adds credit to an account, paid or promotional, or deducts some. The movement and its reason stand in the ledger and ' +
    'in the audit log.',
  'GET /v1/admin/accounts/{id}/ledger':
    'Lists the movements of the credit of an account, newest first, each with the balance after it and what a charge is for. `format=csv` ' +
    'streams all of them as a file.',
  'GET /v1/admin/statements':
    'Lists a month of all accounts with a movement or a balance: the balances before and after and what is between, also as CSV.',
  'GET /v1/admin/accounts/{id}/statements/{month}':
    'Returns a statement of an account as its owner sees it, also as CSV and PDF.',
  'GET /v1/admin/accounts/{id}/budget': 'Returns the budgets of an account and what is spent of them.',
  'PATCH /v1/admin/accounts/{id}/budget': 'Sets the budgets of an account. `null` removes one.',
  'GET /v1/admin/accounts/{id}/limits':
    'Returns the limits that apply to an account, their tier, and what the account has stored.',
  'PATCH /v1/admin/accounts/{id}/limits':
    'Sets the tier of an account, whatever its balance. `null` leaves the tier to the balance again. Running requests are not affected.',
  'GET /v1/admin/accounts/{id}/usage/timeseries':
    'Returns the usage of an account by hour or day, like `GET /v1/usage/timeseries`.',
  'GET /v1/admin/accounts/{id}/payments': 'Lists the payments of an account, newest first.',
  'GET /v1/admin/payments':
    'Lists payments of all accounts, newest first: what was bought, redeemed, adjusted and refunded. The filters are combined.',
  'POST /v1/admin/payments/{id}/refund':
    'Refunds a payment at its provider and takes the credit back, in whole or in part.',
  'GET /v1/admin/promo-codes': 'Lists every promo code, newest first.',
  'POST /v1/admin/requests/{request_id}/replay':
    'Asks another provider, and if wanted another model, what a request asked, as a chat that is not streamed. Only requests whose body is stored as a whole can be replayed (409). It is a request of the account of the operator, which pays for it, with the vendor cost, the limits and the log of any other; the account of the original pays nothing. The audit log records it.',
  'POST /v1/admin/promo-codes': 'Makes a promo code: an amount, an expiry and how often it can be redeemed.',
  'GET /v1/admin/promo-codes/{id}': 'Returns one promo code.',
  'POST /v1/admin/promo-codes/{id}/disable': 'Disables a promo code. Credit that was redeemed stays.',
  'GET /v1/admin/promo-codes/{id}/redemptions': 'Lists the accounts that redeemed a code, newest first.',
  'GET /v1/admin/audit':
    'Lists the actions of operators, newest first: who did what to which object, what is different since, and how it ended, also as CSV. The filters are combined.',
  'GET /v1/admin/live':
    'Streams the figures of all processes as events, one every two seconds: requests, errors, latency, tokens and spend a second, ' +
    'tasks, queues, workers, the database and providers, and what needs attention first. It ends with the key or the session, and ' +
    'when the gateway shuts down. Each process has at most 20 such streams.',
  'GET /v1/admin/models':
    'Returns the models as they are configured: those of the built-in catalog and the catalog file (`source` is `file`), and those that were added over this API (`database`).',
  'POST /v1/admin/models':
    'Adds a model with its price. The members are those of an entry of the catalog file. The answer comes when every process serves it. Names of the file, and of other models, are taken (409).',
  'GET /v1/admin/models/{id}': 'Returns one model as it is configured, with the price that is charged now.',
  'PATCH /v1/admin/models/{id}':
    'Changes the named members; null removes one. A `price` is charged from now on. `routes` replaces all routes with their costs. Models of the file are changed there (409).',
  'DELETE /v1/admin/models/{id}':
    'Removes a model that was added over this API. Requests, streams and tasks that use it end as usual, and its price lists stay for the bills that name them.',
  'GET /v1/admin/models/{id}/prices':
    'Returns the price lists of a model with the moments from which they are charged, who added them and why.',
  'POST /v1/admin/models/{id}/prices':
    'Sets the price of a model, what its routes cost, or both, also of one of the file, at once or from `effective_from` on. Requests that began before are charged by the list of before. Without `price`, which `effective_from` needs, the price stays; without `costs` the costs do.',
  'DELETE /v1/admin/models/{id}/prices/{version}':
    'Withdraws a price list before its moment. If it is the current one of a model of the file, the price of the file is charged from now on. ' +
    'Requests and tasks that began before keep theirs. One of a model that was added over the API, and one of the past, stay as they are (409).',
  'GET /v1/admin/deprecations':
    'Returns the models that are deprecated, those that will end soon, and those that ended while somebody used them, with how much all accounts used each in the last days.',
  'GET /v1/admin/deprecations/{id}/keys':
    'Returns the keys of all accounts that used a model in the last days: whose they are, how much they used it, and when last. Any model of the gateway may be asked for.',
  'GET /v1/admin/price_adjustments':
    'Returns the markups and discounts of all times, by account, project or model if you name one, with who added them and why.',
  'POST /v1/admin/price_adjustments':
    'Adds a markup or discount for an account, a project, a model, or everybody, at once or from `effective_from` on. One counts for a request, the nearest: that of its project, otherwise of its account, otherwise of everybody; among these one that names the model before one that does not; among these the one that began last. Requests that began before keep their price. Accounts see only the price that they pay.',
  'GET /v1/admin/price_adjustments/{id}': 'Returns one markup or discount.',
  'PATCH /v1/admin/price_adjustments/{id}':
    'Moves the end of a markup or discount to another moment of the future, or removes it. What has ended is never changed (409).',
  'DELETE /v1/admin/price_adjustments/{id}':
    'Ends a markup or discount now, or withdraws one before its moment. It stays in the list, because bills name it.',
  'GET /v1/admin/config/export':
    'Writes the providers, models and prices that were added over the API as one YAML document without secrets: keys are references, or the last four characters of those that are stored here. What the environment and the configuration files say is not in it.',
  'POST /v1/admin/config/apply':
    'Compares a document with what is offered, and makes all differences at once or none. What a part of the document does not name is removed; a part that is absent stays as it is. The same document a second time changes nothing.',
  'POST /v1/admin/price_imports':
    'Reads a public price list, and returns how it differs from the prices of the gateway. Entries that cannot be believed (no price, a price of zero, a negative or absurd one, an unknown unit, a name twice) are listed and never used. Nothing is changed.',
  'POST /v1/admin/price_imports/apply':
    'Takes the named differences of a list that was compared before: changed prices from now or from `effective_from` on, and new models with their route. If one of them is refused, nothing is changed. If the list is another one by now, it answers 409.',
  'GET /v1/admin/providers':
    'Lists every known provider: whether it is configured and which setting is missing, its models with routes, weights, ' +
    'prices and breakers, and its requests, errors and latency of the last minutes, over all processes. Also lists the vendors, and what ' +
    'ends when the first provider is added.',
  'POST /v1/admin/providers':
    'Adds a provider while the gateway runs: a known vendor, a second one of a vendor under a name of its own, or a server of your own. ' +
    'The answer comes when every process uses it. Keys are stored encrypted and never shown again; `secret_ref` names a variable or a file ' +
    'that is read instead.',
  'POST /v1/admin/providers/test':
    'Sends the smallest real request with the settings of a provider that is not stored, and says how long it took or why it failed. ' +
    'It is bounded as the test of a stored provider is.',
  'GET /v1/admin/providers/{name}': 'Returns one provider with its state.',
  'PATCH /v1/admin/providers/{name}':
    'Changes a provider that was added over the API; those of the environment or the configuration file are changed there. Requests that ' +
    'are running end with the former settings. Keys stay with the host that they were given for: with another address, or a proxy that could read them, give new ones.',
  'DELETE /v1/admin/providers/{name}':
    'Removes a provider that was added over the API, with its keys. Requests that use it end as usual.',
  'GET /v1/admin/providers/{name}/models':
    'Asks a provider for the models that its first key can see. It counts among the ten tests a minute.',
  'POST /v1/admin/providers/{name}/test':
    'Sends the smallest real request to a provider and says how long it took or why it failed. It is bounded to 15 seconds and to ' +
    'ten a minute for each process, stands in the audit log, and is charged to no account.',
  'GET /':
    'Returns the page of the console. Any other path outside of the API returns it too if the client accepts `text/html`. If the console is not built, the page says how to build it.',
  'GET /healthz': 'Answers while the process is alive. It checks nothing else.',
  'GET /readyz':
    'Checks the database and what else the process needs to serve. A load balancer sends no requests while it answers 503. `warnings` ' +
    'tells what is wrong without that, such as keys of providers that cannot be read.',
  'GET /metrics':
    'Returns the metrics of the gateway in the Prometheus text format, over all its processes. With traces on, a scraper of a gateway with one process that accepts OpenMetrics gets that format, with exemplars.',
  'GET /openapi.json': 'Returns this document.',
  'GET /v1/admin/provider_health':
    'Returns for each provider how its calls went, as a whole, by hour or day, and by model: calls, failures, uptime, latency, time to the first token and throughput. Every attempt counts, also one that was followed by another provider. Hours are kept for 35 days, days for 400.',
  'GET /v1/admin/doctor':
    'Looks at settings, database, clocks, providers, certificates and this machine, as `parkway doctor` does, and says how to mend what is wrong. Every provider of the settings is asked for its list of models, which costs nothing; an answer is shared for ten seconds.',
  'GET /v1/admin/exports':
    'Lists the sinks of `PARKWAY_EXPORTS` with how far each is: how many requests it has not confirmed and how long they wait, what it got, and why its last attempt failed. A sink that was removed from the settings is listed until its requests are forgotten.',
  'GET /status':
    'Returns a page for everybody that shows how each configured provider does and did for 30 days, if `PARKWAY_STATUS_PAGE` is on. It is read once a minute, and names no account, model or error.',
  'GET /status.json': 'Returns what the status page shows, as data.',
  'GET /docs': 'Returns a page that shows this document.',
  'POST /v1/payments/webhook/{provider}':
    'Takes the signed events of the payment provider. An event with a wrong signature is refused.',
  'GET /checkout/test/{token}': 'Shows the page of a test checkout.',
  'POST /checkout/test/{token}/pay': 'Pays a test checkout and returns to the page of the application.',
  'POST /checkout/test/{token}/cancel': 'Cancels a test checkout and returns to the page of the application.',
  'GET /checkout/test-card/{token}': 'Shows the page where a test card is saved.',
  'POST /checkout/test-card/{token}/save/{last4}':
    'Saves a test card and returns to the page of the application. It costs nothing.',
  'GET /checkout/{provider}/return':
    'Shows how a payment went, or whether a card was saved, after the provider sent the person back.',
  'GET /v1/admin/operators': 'Lists the people of the account who operate the gateway.',
  'POST /v1/admin/operators':
    'Names a member of the own account as an operator. They operate the gateway in their sessions, and with keys of theirs that have the scope `admin`.',
  'DELETE /v1/admin/operators/{user_id}': 'Takes the role of an operator from a person, on every process.',
  'GET /v1/admin/identity-providers':
    'Lists where people sign in with an account of their company, with what happened there last.',
  'POST /v1/admin/identity-providers':
    'Adds an OpenID Connect provider. It is read at the first sign-in, so it may be away meanwhile. What is not said is the strictest: ' +
    'only who is invited signs in, with an address that the provider verified.',
  'GET /v1/admin/identity-providers/{id}': 'Returns a provider, without its secret.',
  'PATCH /v1/admin/identity-providers/{id}':
    'Changes a provider. Absent members stay as they are, the client secret too. The issuer cannot be changed, because its people would be others.',
  'DELETE /v1/admin/identity-providers/{id}':
    'Deletes a provider and ends its sessions. Its people stay members; operators by its groups do not stay operators.',
  'POST /v1/admin/identity-providers/{id}/test':
    'Fetches the metadata and the keys of the provider now, and says what is wrong with them.',
}
