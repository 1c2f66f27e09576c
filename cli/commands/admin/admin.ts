import { Command } from 'commander'
import { accounts } from './accounts.ts'
import { audit } from './audit.ts'
import { credit } from './credit.ts'
import { promo } from './promo.ts'
import { providers } from './providers.ts'

export const admin = new Command('admin')
  .description('Operate a gateway over its API, with a key that has the scope admin.')
  .addCommand(accounts)
  .addCommand(credit)
  .addCommand(promo)
  .addCommand(audit)
  .addCommand(providers)
