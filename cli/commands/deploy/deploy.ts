import { Command } from 'commander'
import { create } from './create.ts'
import { billing, list, metrics, show, templates } from './inspect.ts'
import { events, logs, remove, start, stop } from './operate.ts'

export const deploy = new Command('deploy')
  .description('Deploy a model of the hub on a GPU, and look after deployments.')
  .addCommand(create, { isDefault: true })
  .addCommand(list)
  .addCommand(show)
  .addCommand(start)
  .addCommand(stop)
  .addCommand(remove)
  .addCommand(events)
  .addCommand(logs)
  .addCommand(metrics)
  .addCommand(billing)
  .addCommand(templates)
