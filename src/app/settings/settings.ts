import { isKeyForm, KEY_FORM } from '../../modules/keys/keys.ts'
import { parseLimitTable } from '../../modules/limits/limits.ts'
import { ARCHIVE_SETTINGS } from './archive-settings.ts'
import { HTTP_SETTINGS } from './http-settings.ts'
import { isNetwork } from './is-network.ts'
import { EXPORT_SETTINGS } from './export-settings.ts'
import { DATABASE_SETTINGS } from './database-settings.ts'
import { DRAIN_SETTINGS } from './drain-settings.ts'
import { GPU_SETTINGS } from './gpu-settings.ts'
import { OPERATOR_SETTINGS } from './operator-settings.ts'
import { MEDIA_SETTINGS } from './media-settings.ts'
import { SECRET_SETTINGS } from './secret-settings.ts'
import { REQUEST_LOG_SETTINGS } from './request-log-settings.ts'
import { TASK_SETTINGS } from './task-settings.ts'
import { TELEMETRY_SETTINGS } from './telemetry-settings.ts'
import {
  amountSetting,
  booleanSetting,
  choiceSetting,
  integerSetting,
  listSetting,
  objectSetting,
  optionalTextSetting,
  textSetting,
  urlSetting,
} from './setting.ts'

/** All settings of the gateway except the credentials of providers. In a file, the key is the name in snake case. */
export const SETTINGS = {
  host: textSetting({ environment: 'HOST', description: 'Address to listen on.' }, '127.0.0.1'),
  port: integerSetting(
    { environment: 'PORT', description: 'Port to listen on; 0 takes a free one.' },
    { default: 8080, minimum: 0, maximum: 65_535 },
  ),
  processes: integerSetting(
    {
      environment: 'PARKWAY_PROCESSES',
      description: 'How many processes share the port, one a core. Also `--processes`.',
    },
    { default: 1, minimum: 1, maximum: 256 },
  ),
  dataDir: textSetting(
    { environment: 'PARKWAY_DATA_DIR', description: 'Where the gateway keeps its state.' },
    './data',
  ),
  ...DATABASE_SETTINGS,
  bootstrapKey: optionalTextSetting(
    {
      environment: 'PARKWAY_BOOTSTRAP_KEY',
      description: 'The key of the first account, instead of a generated one that is printed.',
      isSecret: true,
    },
    { allowed: `a key of the form ${KEY_FORM}`, isAllowed: isKeyForm },
  ),
  bootstrapCreditUsd: amountSetting(
    { environment: 'PARKWAY_BOOTSTRAP_CREDIT_USD', description: 'Credit of the first account.' },
    10,
  ),
  billing: booleanSetting(
    {
      environment: 'PARKWAY_BILLING',
      description:
        'Charges requests and limits them. Off for a gateway among friends: no charges, usage or limits.',
    },
    true,
  ),
  leaseMs: integerSetting(
    {
      environment: 'PARKWAY_LEASE_MS',
      description: 'How long a process that died keeps what it had borrowed of credit, rates and slots.',
    },
    { default: 15_000, minimum: 500, maximum: 600_000 },
  ),
  commitWaitMs: integerSetting(
    {
      environment: 'PARKWAY_COMMIT_WAIT_MS',
      description: 'How long a finished answer waits for its charge while the database is away.',
    },
    { default: 10_000, minimum: 100, maximum: 600_000 },
  ),
  ledgerCheckHours: integerSetting(
    {
      environment: 'PARKWAY_LEDGER_CHECK_HOURS',
      description: 'How often a worker checks the rules of the ledger, as `ledger verify` does; 0 for never.',
    },
    { default: 24, minimum: 0, maximum: 720 },
  ),
  catalogFile: optionalTextSetting({
    environment: 'PARKWAY_CATALOG_FILE',
    description: 'A JSON or YAML file that changes or extends the catalog; read again when it changes.',
  }),
  logLevel: choiceSetting(
    { environment: 'LOG_LEVEL', description: 'What is logged.' },
    ['silent', 'error', 'warn', 'info', 'debug'],
    'info',
  ),
  logPrompts: booleanSetting(
    {
      environment: 'PARKWAY_LOG_PROMPTS',
      description: 'Writes the bodies of inference requests into the log.',
    },
    false,
  ),
  metricsToken: optionalTextSetting({
    environment: 'PARKWAY_METRICS_TOKEN',
    description: 'Bearer token that `/metrics` asks for, from this machine too.',
    isSecret: true,
  }),
  metricsOpen: booleanSetting(
    {
      environment: 'PARKWAY_METRICS_OPEN',
      description: 'Answers `/metrics` to everybody; otherwise to this machine and to `admin` keys.',
    },
    false,
  ),
  statusPage: booleanSetting(
    {
      environment: 'PARKWAY_STATUS_PAGE',
      description: 'Shows everybody at `/status` how the providers did for 30 days, with their names.',
    },
    false,
  ),
  corsOrigins: listSetting({
    environment: 'PARKWAY_CORS_ORIGINS',
    description: 'Origins whose browsers may call the API; `*` for all, empty for none.',
  }),
  trustedProxies: listSetting(
    {
      environment: 'PARKWAY_TRUSTED_PROXIES',
      description: 'Reverse proxies whose `x-forwarded-for` is believed.',
    },
    { allowed: 'addresses or networks such as 10.0.0.7 or 10.0.0.0/8', isAllowed: isNetwork },
  ),
  publicUrl: urlSetting(
    { environment: 'PARKWAY_PUBLIC_URL', description: 'The address clients reach the gateway at.' },
    ['http:', 'https:'],
  ),
  ...HTTP_SETTINGS,
  shutdownGraceMs: integerSetting(
    {
      environment: 'PARKWAY_SHUTDOWN_GRACE_MS',
      description: 'Time running requests get to finish on shutdown.',
    },
    { default: 30_000, minimum: 0, maximum: 3_600_000 },
  ),
  shutdownDelayMs: integerSetting(
    {
      environment: 'PARKWAY_SHUTDOWN_DELAY_MS',
      description: 'Time between `/readyz` turning 503 and new connections being refused on shutdown.',
    },
    { default: 0, minimum: 0, maximum: 600_000 },
  ),
  upstreamConnectTimeoutMs: integerSetting(
    { environment: 'PARKWAY_UPSTREAM_CONNECT_TIMEOUT_MS', description: 'Time to connect to a provider.' },
    { default: 5_000, minimum: 100, maximum: 60_000 },
  ),
  upstreamFirstByteTimeoutMs: integerSetting(
    {
      environment: 'PARKWAY_UPSTREAM_FIRST_BYTE_TIMEOUT_MS',
      description: 'Time a provider has to begin its answer.',
    },
    { default: 300_000, minimum: 100, maximum: 3_600_000 },
  ),
  upstreamIdleTimeoutMs: integerSetting(
    {
      environment: 'PARKWAY_UPSTREAM_IDLE_TIMEOUT_MS',
      description: 'Silence a provider may keep within an answer.',
    },
    { default: 120_000, minimum: 100, maximum: 3_600_000 },
  ),
  streamDurationMsMax: integerSetting(
    { environment: 'PARKWAY_STREAM_DURATION_MS_MAX', description: 'Longest a stream may go on.' },
    { default: 3_600_000, minimum: 1_000, maximum: 86_400_000 },
  ),
  ...DRAIN_SETTINGS,
  ...MEDIA_SETTINGS,
  ...TASK_SETTINGS,
  ...REQUEST_LOG_SETTINGS,
  ...ARCHIVE_SETTINGS,
  ...EXPORT_SETTINGS,
  ...SECRET_SETTINGS,
  ...GPU_SETTINGS,
  limits: objectSetting(
    {
      environment: 'PARKWAY_LIMITS',
      description: 'Limits by balance and kind of model, slots of local models: see [limits](limits.md).',
    },
    'a JSON object as in docs/limits.md',
    parseLimitTable,
  ),
  sandbox: choiceSetting(
    {
      environment: 'PARKWAY_SANDBOX',
      description:
        'Whose dev and test keys the sandbox answers where a model has no provider; auto means everybody while no provider is configured, then the accounts of operators.',
    },
    ['auto', 'everybody', 'operators', 'nobody'],
    'auto',
  ),
  sandboxTokensPerSecond: integerSetting(
    {
      environment: 'PARKWAY_SANDBOX_TOKENS_PER_SECOND',
      description: 'Pace of the sandbox; 0 answers at once.',
    },
    { default: 0, minimum: 0, maximum: 100_000 },
  ),
  sandboxJobMs: integerSetting(
    {
      environment: 'PARKWAY_SANDBOX_JOB_MS',
      description: "How long the sandbox's videos and music seem to take.",
    },
    { default: 1000, minimum: 0, maximum: 3_600_000 },
  ),
  stripeSecretKey: optionalTextSetting({
    environment: 'STRIPE_SECRET_KEY',
    description: 'Takes payments by Stripe Checkout; the built-in test checkout without it.',
    isSecret: true,
  }),
  stripeWebhookSecret: optionalTextSetting({
    environment: 'STRIPE_WEBHOOK_SECRET',
    description: 'Signs the events that Stripe sends to `/v1/payments/webhook/stripe`.',
    isSecret: true,
  }),
  stripePublishableKey: optionalTextSetting({
    environment: 'STRIPE_PUBLISHABLE_KEY',
    description: 'Shown to clients in `/v1/payments/config`.',
    isSecret: true,
  }),
  stripeApiBaseUrl: urlSetting(
    { environment: 'STRIPE_API_BASE_URL', description: "Another server that speaks Stripe's wire." },
    ['http:', 'https:'],
  ),
  allowTestCheckout: booleanSetting(
    {
      environment: 'PARKWAY_ALLOW_TEST_CHECKOUT',
      description: 'Takes payments in test mode, which cost nothing, although real models are served.',
    },
    false,
  ),
  paymentSweepIntervalMs: integerSetting(
    {
      environment: 'PARKWAY_PAYMENT_SWEEP_INTERVAL_MS',
      description: 'How often payments that no webhook told of are looked up.',
    },
    { default: 30_000, minimum: 50, maximum: 3_600_000 },
  ),
  ...OPERATOR_SETTINGS,
  smtpUrl: optionalTextSetting(
    {
      environment: 'PARKWAY_SMTP_URL',
      description: 'The server that sends mail, with user and password; without it there is none.',
      isSecret: true,
    },
    {
      allowed: 'smtps://user:password@host:465 or smtp://…:587',
      isAllowed: (text) => /^smtps?:\/\/[^\s/]+\/?$/.test(text) && URL.canParse(text),
    },
  ),
  smtpFrom: textSetting(
    { environment: 'PARKWAY_SMTP_FROM', description: 'Whom mail comes from.' },
    'Parkway <parkway@localhost>',
  ),
  ...TELEMETRY_SETTINGS,
} as const
