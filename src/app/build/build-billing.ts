import type { Clock } from '../../kernel/clock.ts'
import {
  createBilling,
  createPromoCodes,
  type Billing,
  type PromoCodes,
} from '../../modules/billing/billing.ts'
import { createBudgets, type Budgets } from '../../modules/budgets/budgets.ts'
import {
  createBudgetAlerts,
  listAlertAddresses,
  listStatementEmails,
  readAlertSettings,
  type BudgetAlerts,
} from '../../modules/budget-alerts/budget-alerts.ts'
import type { Ledger } from '../../modules/ledger/ledger.ts'
import {
  createStatements,
  type StatementOperator,
  type Statements,
} from '../../modules/statements/statements.ts'
import {
  checkWebhookUrl,
  queueAlertWebhook,
  queueNoticeWebhook,
  queueStatementWebhook,
  queueWarning,
} from '../../modules/tasks/tasks.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { PaymentProvider } from '../../payments/payment-provider.ts'
import { createStripeProvider } from '../../payments/stripe/stripe-provider.ts'
import { createTestCheckout } from '../../payments/test-checkout/test-checkout.ts'
import type { Database } from '../../storage/database.ts'
import type { Installation } from '../../storage/installation.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Config } from '../settings/config.ts'
import { webhookHosts } from './build-tasks.ts'

interface BillingParts {
  readonly database: Database
  readonly clock: Clock
  readonly ledger: Ledger
  readonly outbound: Outbound
  readonly logger: GatewayLogger
  /** Whether requests cost the operator money. */
  readonly servesRealModels: () => Promise<boolean>
  readonly installation: Pick<Installation, 'isPaused'>
}

export interface BuiltBilling {
  readonly billing: Billing
  readonly promoCodes: PromoCodes
  readonly budgetAlerts: BudgetAlerts
  readonly budgets: Budgets
  readonly statements: Statements
}

export function buildBilling(
  config: Config,
  { outbound, installation, ...parts }: BillingParts,
  opened: AsyncDisposableStack,
): BuiltBilling {
  const hosts = webhookHosts(config, outbound)
  const canMail = config.smtpUrl !== null
  const built = {
    billing: createBilling({
      ...parts,
      providers: choosePaymentProviders(config, parts.clock),
      allowsTestCheckout: config.allowTestCheckout,
      sweepIntervalMs: config.paymentSweepIntervalMs,
      // A restored copy must not charge what the original charges.
      isCharging: !installation.isPaused && config.billing,
      queueNotice: async (transaction, notice) => {
        for (const url of await listAlertAddresses(transaction, notice.accountId, canMail))
          await queueNoticeWebhook(transaction, { ...notice, url })
      },
    }),
    promoCodes: createPromoCodes(parts),
    budgetAlerts: createBudgetAlerts({
      ...parts,
      checkWebhookUrl: (url) => checkWebhookUrl(url, hosts),
      queueWebhook: queueAlertWebhook,
      canMail,
    }),
    budgets: createBudgets({
      ...parts,
      checkWebhookUrl: (url) => checkWebhookUrl(url, hosts),
      queueWarning,
      canMail,
    }),
    statements: createStatements({
      ...parts,
      operator: operatorOf(config),
      queueWebhook: async (transaction, { accountId, statementId }) => {
        const { webhookUrl } = await readAlertSettings(transaction, accountId)
        const listed = canMail ? await listStatementEmails(transaction, accountId) : []
        const emails = listed.map((email) => `mailto:${email}`)
        for (const url of [...(webhookUrl === null ? [] : [webhookUrl]), ...emails])
          await queueStatementWebhook(transaction, { accountId, statementId, url })
      },
    }),
  }
  opened.defer(() => built.billing.close())
  opened.defer(() => built.budgetAlerts.close())
  opened.defer(() => built.budgets.close())
  opened.defer(() => built.statements.close())
  return built
}

/** The operator, as statements and receipts name it. */
export function operatorOf(
  config: Pick<Config, 'operatorName' | 'operatorAddress' | 'operatorTaxId' | 'operatorTaxLine'>,
): StatementOperator {
  const {
    operatorName: name,
    operatorAddress: address,
    operatorTaxId: taxId,
    operatorTaxLine: taxLine,
  } = config
  return { name, address, taxId, taxLine }
}

/**
 * Chooses Stripe if any of its keys is set. So an incomplete configuration never falls back to the test checkout, which
 * gives credit for free.
 */
function choosePaymentProviders(
  { stripeSecretKey, stripeWebhookSecret, stripePublishableKey, stripeApiBaseUrl }: Config,
  clock: Clock,
): [PaymentProvider, ...PaymentProvider[]] {
  const testCheckout = createTestCheckout()
  if ([stripeSecretKey, stripeWebhookSecret, stripePublishableKey].every((key) => key === null))
    return [testCheckout]
  const stripe = createStripeProvider({
    secretKey: stripeSecretKey,
    webhookSecret: stripeWebhookSecret,
    publishableKey: stripePublishableKey,
    apiBaseUrl: stripeApiBaseUrl,
    clock,
  })
  return [stripe, testCheckout]
}
