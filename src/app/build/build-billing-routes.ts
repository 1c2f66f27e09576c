import { checkoutRoutes } from '../../http/checkout-page/checkout-routes.ts'
import type { Route } from '../../http/route.ts'
import { ledgerRoutes } from '../../http/routes/account/ledger.ts'
import { paymentRoutes } from '../../http/routes/account/payments.ts'
import { promoRoutes } from '../../http/routes/account/promo.ts'
import { statementRoutes } from '../../http/routes/account/statements.ts'
import { usageAnomalyRoutes } from '../../http/routes/account/usage-anomalies.ts'
import { adminStatementRoutes } from '../../http/routes/operator/admin-statements.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Modules } from './build-modules.ts'

interface Parts {
  readonly modules: Pick<
    Modules,
    'billing' | 'promoCodes' | 'statements' | 'accounts' | 'ledger' | 'usage' | 'clock'
  >
  readonly publicUrl: string | null
  readonly logger: GatewayLogger
}

/** Routes for what an account pays, and what it gets for it. */
export function buildBillingRoutes({ modules, publicUrl, logger }: Parts): Route[] {
  const { billing, promoCodes, statements, accounts, ledger, usage, clock } = modules
  return [
    ...paymentRoutes({ billing, publicUrl }),
    ...checkoutRoutes({ billing }),
    ...ledgerRoutes({ ledger, logger }),
    ...usageAnomalyRoutes({ usage }),
    ...promoRoutes({ promoCodes }),
    ...statementRoutes({ statements, logger }),
    ...adminStatementRoutes({ statements, accounts, clock, logger }),
  ]
}
