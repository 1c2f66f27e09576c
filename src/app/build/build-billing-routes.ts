import { cardRoutes } from '../../http/checkout-page/card-routes.ts'
import { checkoutRoutes } from '../../http/checkout-page/checkout-routes.ts'
import type { Route } from '../../http/route.ts'
import { autoTopUpRoutes } from '../../http/routes/account/auto-top-up.ts'
import { ledgerRoutes } from '../../http/routes/account/ledger.ts'
import { paymentReceiptRoutes } from '../../http/routes/account/payment-receipt.ts'
import { paymentRoutes } from '../../http/routes/account/payments.ts'
import { promoRoutes } from '../../http/routes/account/promo.ts'
import { statementRoutes } from '../../http/routes/account/statements.ts'
import { usageAnomalyRoutes } from '../../http/routes/account/usage-anomalies.ts'
import { adminStatementRoutes } from '../../http/routes/operator/admin-statements.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import { operatorOf } from './build-billing.ts'
import type { Config } from '../settings/config.ts'
import type { Modules } from './build-modules.ts'

interface Parts {
  readonly modules: Pick<
    Modules,
    'billing' | 'promoCodes' | 'statements' | 'accounts' | 'ledger' | 'usage' | 'clock'
  >
  readonly config: Pick<Config, 'publicUrl'> & Parameters<typeof operatorOf>[0]
  readonly logger: GatewayLogger
}

/** Routes for what an account pays, and what it gets for it. */
export function buildBillingRoutes({ modules, config, logger }: Parts): Route[] {
  const { billing, promoCodes, statements, accounts, ledger, usage, clock } = modules
  return [
    ...paymentRoutes({ billing, publicUrl: config.publicUrl, logger }),
    ...paymentReceiptRoutes({ billing, accounts, operator: operatorOf(config) }),
    ...autoTopUpRoutes({ autoTopUps: billing.autoTopUps, publicUrl: config.publicUrl }),
    ...checkoutRoutes({ billing }),
    ...cardRoutes({ autoTopUps: billing.autoTopUps }),
    ...ledgerRoutes({ ledger, logger }),
    ...usageAnomalyRoutes({ usage }),
    ...promoRoutes({ promoCodes }),
    ...statementRoutes({ statements, logger }),
    ...adminStatementRoutes({ statements, accounts, clock, logger }),
  ]
}
