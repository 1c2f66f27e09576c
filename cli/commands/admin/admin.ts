import { commandGroup } from '../../command-group.ts'
import { accounts } from './accounts.ts'
import { audit } from './audit.ts'
import { credit } from './credit.ts'
import { models } from './models.ts'
import { prices } from './prices.ts'
import { promo } from './promo.ts'
import { providers } from './providers.ts'
import { refund } from './refund.ts'

export const admin = commandGroup({
  name: 'admin',
  summary: 'Operate a gateway over its API, with a key that has the scope admin.',
  example: 'parkway admin accounts --search acme',
  others: [accounts, credit, refund, promo, audit, providers, models, prices],
})
