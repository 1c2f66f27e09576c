/** One line of a panel: an expression, and how its series are named. */
type Line = readonly [expression: string, legend: string]

export interface PanelPlan {
  readonly title: string
  readonly unit: string
  readonly lines: readonly Line[]
  /** A single number instead of a graph. */
  readonly isNumber?: true
}

export interface DashboardPlan {
  readonly title: string
  readonly panels: readonly PanelPlan[]
}

const API = 'route=~"/v1/.*",route!~"/v1/admin/.*"'
const graph = (title: string, unit: string, ...lines: readonly Line[]): PanelPlan => ({ title, unit, lines })
const figure = (title: string, unit: string, expression: string): PanelPlan => ({
  title,
  unit,
  lines: [[expression, '']],
  isNumber: true,
})
const quantile = (share: number, metric: string, by: string): string =>
  `histogram_quantile(${share}, sum by (le${by}) (rate(${metric}_bucket[$__rate_interval])))`

/** The dashboards of `deploy/grafana/`, by the name of their file. */
export const DASHBOARDS: Readonly<Record<string, DashboardPlan>> = {
  overview: {
    title: 'Parkway: overview',
    panels: [
      figure('Requests a second', 'reqps', `sum(rate(parkway_requests_total{${API}}[$__rate_interval]))`),
      figure('Requests that fail', 'percentunit', 'parkway:errors:ratio_rate1h'),
      figure('Running requests', 'short', `sum(parkway_requests_in_flight{${API}})`),
      figure('First token, 95 %', 's', 'parkway:first_token_seconds:p95_5m'),
      figure('Spend an hour', 'currencyUSD', 'sum(parkway:spend_usd:rate1h) * 3600'),
      figure('Database answers', 'short', 'min(parkway_database_up)'),
      graph('Requests by status', 'reqps', [
        `sum by (status) (rate(parkway_requests_total{${API}}[$__rate_interval]))`,
        '{{status}}',
      ]),
      graph('Requests by model', 'reqps', [
        `topk(10, sum by (model) (rate(parkway_requests_total{model!=""}[$__rate_interval])))`,
        '{{model}}',
      ]),
      graph(
        'Duration',
        's',
        [quantile(0.5, 'parkway_request_duration_seconds', ''), '50 %'],
        [quantile(0.95, 'parkway_request_duration_seconds', ''), '95 %'],
        [quantile(0.99, 'parkway_request_duration_seconds', ''), '99 %'],
      ),
      graph('First token, 95 %, by model', 's', [
        quantile(0.95, 'parkway_time_to_first_token_seconds', ', model'),
        '{{model}}',
      ]),
      graph('Tokens a second', 'short', [
        'sum by (direction) (rate(parkway_tokens_total[$__rate_interval]))',
        '{{direction}}',
      ]),
      graph('Refused by limits', 'reqps', [
        'sum by (layer) (rate(parkway_limit_refusals_total[$__rate_interval]))',
        '{{layer}}',
      ]),
      graph('Clients that left', 'reqps', [
        'sum by (route) (rate(parkway_client_disconnects_total[$__rate_interval]))',
        '{{route}}',
      ]),
      graph('Event loop: busy', 'percentunit', [
        'max by (instance) (nodejs_eventloop_utilization)',
        '{{instance}}',
      ]),
      graph('Event loop: delay, 99 %', 's', [
        'max by (instance) (parkway_event_loop_lag_seconds{quantile="0.99"})',
        '{{instance}}',
      ]),
      graph('Memory', 'bytes', ['sum by (instance) (process_resident_memory_bytes)', '{{instance}}']),
      graph('Processor', 'short', [
        'sum by (instance) (rate(process_cpu_seconds_total[$__rate_interval]))',
        '{{instance}}',
      ]),
      graph('Releases', 'short', ['count by (version) (parkway_build_info)', '{{version}}']),
    ],
  },
  money: {
    title: 'Parkway: money',
    panels: [
      figure('Spend an hour', 'currencyUSD', 'sum(parkway:spend_usd:rate1h) * 3600'),
      figure('Rules of the ledger that are broken', 'short', 'max(parkway_ledger_differences)'),
      figure('Since the last check', 's', 'time() - max(parkway_ledger_checked_timestamp_seconds)'),
      figure('Charges that the books refuse', 'short', 'max(parkway_ledger_refused_commits)'),
      figure('Owed by accounts', 'currencyUSD', 'max(parkway_debt_usd)'),
      figure('Not covered, a day', 'currencyUSD', 'sum(increase(parkway_uncovered_usd_total[1d]))'),
      graph('Spend an hour by model', 'currencyUSD', [
        'topk(10, sum by (model) (parkway:spend_usd:rate1h) * 3600)',
        '{{model}}',
      ]),
      graph('Spend an hour by provider', 'currencyUSD', [
        'sum by (provider) (parkway:spend_usd:rate1h) * 3600',
        '{{provider}}',
      ]),
      graph('Charges a second', 'short', [
        'sum(rate(parkway_ledger_charges_total[$__rate_interval]))',
        'charges',
      ]),
      graph('Commits that wait to be posted', 'short', ['max(parkway_ledger_unposted_commits)', 'commits']),
      graph(
        'Time to commit',
        's',
        [quantile(0.5, 'parkway_ledger_commit_seconds', ''), '50 %'],
        [quantile(0.99, 'parkway_ledger_commit_seconds', ''), '99 %'],
      ),
      graph('Charges cannot be written', 'short', ['max(parkway_ledger_failing)', 'failing']),
      graph('Answers whose cost was estimated', 'short', [
        'sum(rate(parkway_abandoned_answers_total[$__rate_interval]))',
        'abandoned',
      ]),
      graph('Bound GPUs, dollars an hour', 'currencyUSD', [
        'max by (tier) (parkway_gpus_price_usd_per_hour)',
        '{{tier}}',
      ]),
    ],
  },
  vendors: {
    title: 'Parkway: providers',
    panels: [
      graph('Calls a second', 'reqps', [
        'sum by (provider) (rate(parkway_upstream_attempts_total[$__rate_interval]))',
        '{{provider}}',
      ]),
      graph('Calls that fail', 'percentunit', ['parkway:provider_errors:ratio_rate10m', '{{provider}}']),
      graph('Failures by kind', 'reqps', [
        'sum by (provider, failure, status) (rate(parkway_upstream_errors_total[$__rate_interval]))',
        '{{provider}} {{failure}} {{status}}',
      ]),
      graph('Breakers: 1 half-open, 2 open', 'short', [
        'max by (provider, model) (parkway_circuit_breaker_state) > 0',
        '{{provider}} {{model}}',
      ]),
      graph('Accounts with an open breaker of their own', 'short', [
        'max by (provider, model) (parkway_circuit_breaker_accounts) > 0',
        '{{provider}} {{model}}',
      ]),
      graph('First token, 95 %', 's', [
        quantile(0.95, 'parkway_time_to_first_token_seconds', ', provider'),
        '{{provider}}',
      ]),
      graph('Duration of operations, 95 %', 's', [
        quantile(
          0.95,
          'gen_ai_client_operation_duration_seconds',
          ', gen_ai_provider_name, gen_ai_operation_name',
        ),
        '{{gen_ai_provider_name}} {{gen_ai_operation_name}}',
      ]),
      graph('Output tokens of an answer, 95 %', 'short', [
        'histogram_quantile(0.95, sum by (le, gen_ai_provider_name) (rate(gen_ai_client_token_usage_bucket{gen_ai_token_type="output"}[$__rate_interval])))',
        '{{gen_ai_provider_name}}',
      ]),
      graph('Further attempts at the same provider', 'reqps', [
        'sum by (provider) (rate(parkway_upstream_retries_total[$__rate_interval]))',
        '{{provider}}',
      ]),
      graph('Attempts at another provider', 'reqps', [
        'sum by (from, to) (rate(parkway_upstream_fallbacks_total[$__rate_interval]))',
        '{{from}} to {{to}}',
      ]),
      graph('Answers read without a client', 'short', ['sum(parkway_drains_running)', 'running']),
    ],
  },
  tasks: {
    title: 'Parkway: tasks',
    panels: [
      figure('Waiting', 'short', 'max(parkway_tasks{status="pending"})'),
      figure('Worked on', 'short', 'max(parkway_tasks{status="processing"})'),
      figure('The oldest one waits', 's', 'max(parkway_tasks_oldest_pending_seconds)'),
      figure('Workers', 'short', 'sum(parkway_workers_running)'),
      graph('Tasks', 'short', ['max by (status) (parkway_tasks)', '{{status}}']),
      graph('Work that ended, a second', 'short', [
        'sum by (type, outcome) (rate(parkway_task_attempts_total[$__rate_interval]))',
        '{{type}} {{outcome}}',
      ]),
      graph('Duration of the work, 95 %', 's', [
        quantile(0.95, 'parkway_task_work_seconds', ', type'),
        '{{type}}',
      ]),
      graph('Stored bytes', 'bytes', ['max by (kind) (parkway_stored_bytes)', '{{kind}}']),
      graph('Failures of the store of files', 'short', [
        'sum by (operation) (rate(parkway_media_store_failures_total[$__rate_interval]))',
        '{{operation}}',
      ]),
    ],
  },
  deployments: {
    title: 'Parkway: deployments',
    panels: [
      figure('Running', 'short', 'max(parkway_deployments{status="running"})'),
      figure('Failed', 'short', 'max(parkway_deployments{status="error"})'),
      figure('Dollars an hour', 'currencyUSD', 'sum(max by (tier) (parkway_gpus_price_usd_per_hour))'),
      graph('Deployments by status', 'short', ['max by (status) (parkway_deployments)', '{{status}}']),
      graph('Bound machines by tier', 'short', ['max by (tier) (parkway_gpus_bound)', '{{tier}}']),
      graph('Requests to deployments', 'reqps', [
        'sum by (status) (rate(parkway_requests_total{model="byom"}[$__rate_interval]))',
        '{{status}}',
      ]),
      graph('Duration, 95 %', 's', [
        'histogram_quantile(0.95, sum by (le) (rate(parkway_request_duration_seconds_bucket{model="byom"}[$__rate_interval])))',
        '95 %',
      ]),
    ],
  },
  database: {
    title: 'Parkway: database',
    panels: [
      figure('Answers', 'short', 'min(parkway_database_up)'),
      figure('Size', 'bytes', 'max(parkway_database_size_bytes)'),
      figure('Partitions that are missing', 'short', 'sum(max by (table) (parkway_partitions_missing))'),
      figure('Oldest transaction', 's', 'max(parkway_database_longest_transaction_seconds)'),
      graph('One round trip', 's', ['max by (instance) (parkway_database_ping_seconds)', '{{instance}}']),
      graph('Connections of the gateways', 'short', [
        'sum by (state) (parkway_database_pool_connections)',
        '{{state}}',
      ]),
      graph('Queries that wait for a connection', 'short', [
        'sum by (instance) (parkway_database_pool_waiting)',
        '{{instance}}',
      ]),
      graph(
        'Connections of its server',
        'short',
        ['max(parkway_database_connections)', 'in use'],
        ['max(parkway_database_connections_limit)', 'limit'],
      ),
      graph('Standby is behind', 'bytes', ['max(parkway_database_replication_lag_bytes)', 'lag']),
      graph('Limits use only what is borrowed', 'short', ['max(parkway_limits_database_away)', 'away']),
      graph('Limits with a borrowed part', 'short', ['sum(parkway_limits_borrowed)', 'limits']),
      graph('Exports: oldest request that waits', 's', [
        'max by (sink) (parkway_export_lag_seconds)',
        '{{sink}}',
      ]),
      graph('Exports: requests a second', 'reqps', [
        'sum by (sink, outcome) (rate(parkway_export_requests_total[$__rate_interval]))',
        '{{sink}} {{outcome}}',
      ]),
      graph('Left out of the request log', 'short', [
        'sum by (reason) (rate(parkway_request_log_dropped_total[$__rate_interval]))',
        '{{reason}}',
      ]),
    ],
  },
}
