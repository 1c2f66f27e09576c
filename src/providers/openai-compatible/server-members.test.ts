import { expect, test } from 'vitest'
import { listHeldMembers } from './server-members.ts'

const body = { model: 'm', messages: [], future: 1, chat_template: 'x', Messages: [] }

test('a self-hosted server gets only members that are known, and those that the operator allows', () => {
  const server = { defaultBaseUrl: null }
  expect(listHeldMembers(server, body)).toEqual(['future', 'chat_template', 'Messages'])
  expect(listHeldMembers({ ...server, allowedMembers: ['chat_template'] }, body)).toEqual([
    'future',
    'Messages',
  ])
})

test('a vendor gets all members', () => {
  expect(listHeldMembers({ defaultBaseUrl: 'https://api.example.com/v1' }, body)).toEqual([])
})
