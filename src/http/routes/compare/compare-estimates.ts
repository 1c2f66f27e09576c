import { Type } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { Compare } from '../../../modules/compare/compare.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { readRunOrder, RunCreateBody, type PromptSources } from './compare-run-request.ts'

const EstimateAnswer = Type.Object(
  {
    object: objectName('compare.estimate'),
    prompts_total: Type.Integer({ description: 'How many prompts it has.' }),
    cells_total: Type.Integer({ description: 'How many answers it asks for.' }),
    estimated_cost_usd: Type.Number({ description: 'Of the whole run, with the judge.' }),
    estimated_judge_cost_usd: Type.Number({ description: 'Of the judge.' }),
    estimated_duration_seconds: Type.Integer({ description: 'About how long the run takes.' }),
  },
  { title: 'CompareEstimate' },
)

interface EstimateRouteOptions {
  readonly compare: Pick<Compare, 'estimate'>
  readonly sources: PromptSources
}

export const compareEstimateRoutes = ({ compare, sources }: EstimateRouteOptions): Route[] => [
  defineRoute({
    tag: 'Compare',
    access: inProject('models.use', 'compare.manage'),
    method: 'POST',
    path: '/v1/compare/estimates',
    summary: 'Estimate a run',
    isChargedByCall: true,
    body: RunCreateBody,
    responses: { 200: { description: 'About what the run would cost and take.', schema: EstimateAnswer } },
    handle: async ({ caller, body }) => {
      const order = await readRunOrder(caller, body, sources)
      const estimate = compare.estimate(order)
      return {
        object: 'compare.estimate' as const,
        prompts_total: order.prompts.length,
        cells_total: order.prompts.length * order.lanes.length * order.repeats,
        estimated_cost_usd: usdFromNanoUsd(estimate.costNanoUsd),
        estimated_judge_cost_usd: usdFromNanoUsd(estimate.judgeCostNanoUsd),
        estimated_duration_seconds: Math.ceil(estimate.durationMs / 1000),
      }
    },
  }),
]
