const BUDGET = '/v1/organization/budgets/{budget_id}'
const REQUESTS = '/v1/organization/budget_requests'
const ORGANIZATION = '/v1/organization'
const PROJECT = '/v1/organization/projects/{project_id}'

/** Descriptions of the operations on budgets, by method and path. */
export const BUDGET_NOTES: Readonly<Record<string, string>> = {
  'GET /v1/organization/budgets':
    'Lists the budgets that you may change and those that limit you. They show what is spent in the present window.',
  'POST /v1/organization/budgets':
    'Makes a budget. What was spent before in its present window counts, and every process keeps to it when the answer comes. Somebody who does not manage budgets can make some for themselves and for the key that they use.',
  [`GET ${BUDGET}`]: 'Returns one budget with what is spent in the present window.',
  [`POST ${BUDGET}`]:
    'Changes the limit, or how it warns, on every process. Subject, models and window stay: make another budget for those.',
  [`DELETE ${BUDGET}`]: 'Deletes a budget on every process. What was spent stays in the usage.',
  [`POST ${BUDGET}/raise`]:
    'Adds an amount to the limit until a time, in each window until then. A raise replaces the one before.',
  [`DELETE ${BUDGET}/raise`]: 'Ends a raise before its time.',
  [`GET ${BUDGET}/alerts`]:
    'Lists the thresholds that the budget has reached, one alert for each and window.',
  [`GET ${REQUESTS}`]: 'Lists the requests that you may decide, and your own, newest first.',
  [`POST ${REQUESTS}`]:
    'Asks for a raise of a budget that limits you. Whoever may change the budget approves or refuses.',
  [`POST ${REQUESTS}/{request_id}/approve`]:
    'Raises the budget as asked, or by the amount and until the time in the body.',
  [`POST ${REQUESTS}/{request_id}/refuse`]: 'Refuses a request. The budget stays as it is.',
  [`GET ${ORGANIZATION}/spend_limit`]:
    'Returns the hard monthly limit of the account: its oldest hard budget by month for all models.',
  [`POST ${ORGANIZATION}/spend_limit`]: 'Sets the hard monthly limit of the account, in cents.',
  [`DELETE ${ORGANIZATION}/spend_limit`]: 'Deletes the hard monthly limit of the account.',
  [`GET ${PROJECT}/spend_limit`]: 'Returns the hard monthly limit of a project.',
  [`POST ${PROJECT}/spend_limit`]: 'Sets the hard monthly limit of a project, in cents.',
  [`DELETE ${PROJECT}/spend_limit`]: 'Deletes the hard monthly limit of a project.',
  [`GET ${ORGANIZATION}/spend_alerts`]:
    'Lists the alerts of the account: budgets by month that only warn, by mail.',
  [`POST ${ORGANIZATION}/spend_alerts`]:
    'Makes an alert that tells people by mail when the amount is spent in a month.',
  [`GET ${ORGANIZATION}/spend_alerts/{alert_id}`]: 'Returns one alert of the account.',
  [`POST ${ORGANIZATION}/spend_alerts/{alert_id}`]: 'Changes the amount of an alert, or whom it tells.',
  [`DELETE ${ORGANIZATION}/spend_alerts/{alert_id}`]: 'Deletes an alert of the account.',
  [`GET ${PROJECT}/spend_alerts`]: 'Lists the alerts of a project.',
  [`POST ${PROJECT}/spend_alerts`]: 'Makes an alert for the spending of a project.',
  [`GET ${PROJECT}/spend_alerts/{alert_id}`]: 'Returns one alert of a project.',
  [`POST ${PROJECT}/spend_alerts/{alert_id}`]: 'Changes an alert of a project.',
  [`DELETE ${PROJECT}/spend_alerts/{alert_id}`]: 'Deletes an alert of a project.',
}
