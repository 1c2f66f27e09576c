/** Descriptions of the comparison operations, by method and path. */
export const COMPARE_NOTES: Readonly<Record<string, string>> = {
  'POST /v1/compare/runs':
    'Asks every lane, a model with its parameters, every prompt, as often as `repeats` says. The run goes on in the ' +
    'background, also when the gateway restarts. `budget_usd` stops it before it spends more.',
  'POST /v1/compare/estimates':
    'Returns about what a run would cost and take. The body is that of a run. It costs nothing: no model is asked, and nothing is stored.',
  'GET /v1/compare/runs': 'Lists the runs of the account, newest first.',
  'GET /v1/compare/runs/{run_id}':
    'Returns a run with its progress, its cost so far and, for each lane, latency, speed, cost and score with 95 % intervals.',
  'GET /v1/compare/runs/{run_id}/results':
    'Lists the cells: one answer of one lane to one prompt. `prompts` has the beginning of each prompt of the page. In a ' +
    'blind run the lanes stay hidden until you vote.',
  'GET /v1/compare/runs/{run_id}/stream':
    'Streams the answers of a run as events while they are written: parts of texts, ended cells, and the end of the run. In a ' +
    'blind run lanes have the names of the results. Each process has at most ten such streams of an account.',
  'GET /v1/compare/runs/{run_id}/export':
    'Streams the whole run as JSON, or as CSV with one row a cell. Each row has what is needed to ask the same again.',
  'POST /v1/compare/runs/{run_id}/cancel': 'Stops a run. Cells that are done stay, and stay paid.',
  'POST /v1/compare/runs/{run_id}/resume':
    'Continues a run that failed, was cancelled or reached its budget. Only cells that failed or were never asked are asked.',
  'POST /v1/compare/runs/{run_id}/save': 'Keeps a run: it is not removed when it is old.',
  'POST /v1/compare/datasets':
    'Makes a dataset of prompts from JSON, or from a CSV or JSON-lines file in a form. A prompt may carry an expected answer. ' +
    '`from_run` takes the prompts of a run whose answers failed, `from_log` those of logged requests whose bodies are stored. It costs nothing.',
  'GET /v1/compare/datasets': 'Lists the datasets of the account, newest first.',
  'GET /v1/compare/datasets/{id}':
    'Returns a dataset with its prompts, in the newest or in an earlier version.',
  'PATCH /v1/compare/datasets/{id}':
    'Renames a dataset or replaces its prompts. New prompts make a new version; runs keep the version they began with.',
  'DELETE /v1/compare/datasets/{id}': 'Deletes a dataset. Runs that used it stay.',
  'POST /v1/compare/runs/{run_id}/lanes/{lane_id}/winner':
    'Votes for a lane: of the whole run, or of one prompt. A second vote of the same person replaces the first one, with whichever key it is given.',
  'GET /v1/compare/runs/{run_id}/votes':
    'Lists the votes of people on a run, newest first. Of a blind run it has those on prompts that you voted on.',
  'GET /v1/compare/runs/{run_id}/verdict':
    'Ranks the lanes of a run by its votes, with intervals, and says in words whether the difference is certain. `agreement` says how ' +
    'far the people who voted agree.',
  'GET /v1/compare/runs/{run_id}/diff':
    'Compares a run with an earlier run of the same dataset or prompts, lane by lane, over the prompts that both answered.',
  'GET /v1/compare/leaderboard': 'Ranks models by all votes of the account, with intervals.',
  'POST /v1/compare/conversations':
    'Begins a conversation with several lanes. Each lane has its own history and answers every turn.',
  'GET /v1/compare/conversations':
    'Lists the conversations of the account, newest first, without their turns.',
  'GET /v1/compare/conversations/{id}': 'Returns a conversation with all its turns.',
  'PATCH /v1/compare/conversations/{id}':
    'Renames a conversation, or changes its system prompt from the next turn on.',
  'DELETE /v1/compare/conversations/{id}': 'Deletes a conversation with its turns.',
  'POST /v1/compare/conversations/{id}/turns':
    'Sends one message to every lane, or to those in `lane_ids`, and returns their replies side by side. With `stream: true` the ' +
    'chunks of all lanes arrive on one stream, each with its `lane_id`.',
}
