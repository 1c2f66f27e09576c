import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { createDeployment, gpuTiersQuery, hubModelQuery, previewQuery } from '../../api/deployment-plans.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { HubModelStep } from './hub-model-step.tsx'
import { ModelFacts } from './model-facts.tsx'
import { EMPTY_PLAN, numberIn, type Plan } from './plan.ts'
import { SettingsStep } from './settings-step.tsx'
import { SummaryStep } from './summary-step.tsx'
import { TierStep } from './tier-step.tsx'

const route = getRouteApi('/shell/deployments/new')

/** From the id of a model to a deployment, step by step. */
export function NewDeploymentPage() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [plan, setPlan] = useState<Plan>(EMPTY_PLAN)
  const change = (changed: Partial<Plan>): void => setPlan((old) => ({ ...old, ...changed }))
  const hubId = search.model ?? ''
  const tiers = useQuery(gpuTiersQuery)
  const hubModel = useQuery({ ...hubModelQuery(hubId, plan.token), enabled: hubId !== '' })
  const contextTokens = numberIn(plan.contextTokens)
  const question = {
    huggingface_id: hubId,
    gpu_tier: search.tier,
    quantization: plan.quantization,
    max_model_len: contextTokens,
  }
  const preview = useQuery({
    ...previewQuery(question),
    enabled: typeof hubModel.data?.revision === 'string',
  })
  const found = preview.data?.huggingface_id === hubId ? preview.data : undefined
  // A model that fits nowhere has no GPU until the person chooses one.
  const tierId = search.tier ?? (found === undefined || found.fit === 'no' ? '' : found.gpu_tier)
  const tier = tiers.data?.find(({ id }) => id === tierId)
  const create = useMutation({
    mutationFn: () =>
      createDeployment({
        huggingface_id: hubId,
        gpu_tier: tierId,
        quantization: plan.quantization,
        name: plan.name === '' ? null : plan.name,
        hf_token: plan.token === '' ? null : plan.token,
        max_model_len: contextTokens ?? null,
        budget_limit_usd: numberIn(plan.budgetUsd) ?? null,
        idle_timeout_minutes: numberIn(plan.idleMinutes) ?? null,
        expected_max_price_per_hr: tier?.price_per_hour_usd ?? null,
      }),
    onSuccess: ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: ['deployments'] })
      void navigate({ to: '/deployments/$id', params: { id } })
    },
  })
  const choose = (model: string, chosenTier?: string): void =>
    void navigate({ to: '/deployments/new', search: { model, tier: chosenTier } })
  return (
    <Page>
      <PageHeader
        title="New deployment"
        description="A model of the hub on a GPU. Nothing is charged until you create it."
      />
      <HubModelStep
        hubId={hubId}
        isLooking={hubModel.isFetching}
        onChoose={choose}
        onTemplate={({ huggingface_id: model, gpu_tier: chosen, defaults }) => {
          change({
            quantization: defaults.quantization,
            contextTokens: String(defaults.max_model_len),
            idleMinutes: String(defaults.idle_timeout_minutes),
          })
          choose(model, chosen)
        }}
      />
      {hubModel.error && (
        <ErrorPanel
          title="The model could not be looked up"
          error={hubModel.error}
          onRetry={() => void hubModel.refetch()}
        />
      )}
      {hubId !== '' && hubModel.data && (
        <>
          <ModelFacts model={hubModel.data} token={plan.token} onToken={(token) => change({ token })} />
          <TierStep
            tiers={tiers.data}
            error={tiers.error}
            tierId={tierId}
            recommended={hubModel.data.recommended_gpu_tier}
            preview={found}
            previewError={preview.error}
            onChoose={(chosen) => choose(hubId, chosen)}
          />
          <SettingsStep plan={plan} onChange={change} longestFitting={found?.max_fitting_model_len} />
          <SummaryStep
            plan={plan}
            tier={tier}
            etaMinutes={found?.eta_minutes}
            isBusy={create.isPending}
            onCreate={() => create.mutate()}
          />
          {create.error && <ErrorPanel title="The deployment was not created" error={create.error} />}
        </>
      )}
    </Page>
  )
}
