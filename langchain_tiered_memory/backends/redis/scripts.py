"""The Lua scripts: each is one operation, atomic and whole. How they are written is said in `lua`."""

from __future__ import annotations

from langchain_tiered_memory.backends.redis.lua import COMMON, GONE, LIFE, ROWS_OF, VECTORS

VERSION = (
    COMMON
    + """
if not standing() then return '0' end
stamped = whole(version())
seal(redis.pcall)
return stamped
"""
)
"""For where the version does not stand by itself: nothing was ever written, or an earlier release wrote it."""

PUT = (
    COMMON
    + VECTORS
    + LIFE
    + """
if take() == '' and redis.call('EXISTS', index) == 0 then return {'unregistered'} end
local entries, contents = {}, {}
for i = 1, tonumber(take()) do
  local e = {}
  for _, name in ipairs({'id', 'b', 'h', 's', 'o', 'a', 'l', 't', 'k', 'c', 'x', 'from', 'to',
    'created', 'low', 'high', 'ends', 'life', 'pinned'}) do
    e[name] = take()
  end
  e.vectors = at
  at = at + 1 + 2 * tonumber(ARGV[at + 1])
  entries[i] = e
  e.there = exists(e.id)
  local content = e.there and redis.call('HGET', item(e.id), 'b') or contents[e.id]
  if content and content ~= e.b then return {'conflict', i} end
  contents[e.id] = e.b
end

-- The newest row that says the same, and whether no row at all has this key. The numbers only narrow the search: of
-- far-off instants they are not exact, the texts are.
local function alike(e)
  if e.k == '' then return nil, true end
  local key = same(e.k)
  for _, id in ipairs(redis.call('ZREVRANGEBYSCORE', key, e.high, e.low)) do
    if exists(id) then
      local row = redis.call('HMGET', item(id), 'c', 'x')
      local c, x = row[1], row[2]
      if (x == '' or x > e.c) and (e.from == '' or (e.from <= c and c <= e.to)) then return id, false end
    end
  end
  return nil, redis.call('EXISTS', key) == 0
end

local function line(id) return id:gsub('\\\\', '\\\\\\\\'):gsub('\\n', '\\\\n') .. '\\n' end

local function rest_on(id, e)
  local old = redis.call('HGET', item(id), 'o')
  local seen, grown = {[line(id)] = true}, {}
  for source in (old .. e.o .. line(e.id)):gmatch('[^\\n]*\\n') do
    if not seen[source] then
      seen[source] = true
      grown[#grown + 1] = source
    end
  end
  local new = table.concat(grown)
  if new ~= old then
    redis.call('HSET', item(id), 'o', new)
    changed(id)
  end
end

local latest, for_good = nil, false
local function create(e, first)
  local key, till = item(e.id), last_day(e.ends, e.life, e.pinned)
  changed(e.id)
  redis.call('DEL', key)
  at = e.vectors
  redis.call('HSET', key, unpack(vectors_into({'b', e.b, 'h', e.h, 's', e.s, 'o', e.o, 'a', e.a, 'l', e.l, 't', e.t,
    'k', e.k, 'c', e.c, 'x', e.x, 'e', e.ends, 'f', e.life, 'n', e.created})))
  if till then redis.call('PEXPIREAT', key, whole(till)) end
  if e.k ~= '' then join(e.k, e.id, e.created, till, first) end
  for_good = for_good or not till
  latest = math.max(latest or 0, till or 0)
end

local placed, created = {}, {}
for i, e in ipairs(entries) do
  if e.there or created[e.id] then
    placed[i] = {'existing', e.id, memory(e.id)}
  else
    local id, first = alike(e)
    if not id then
      create(e, first)
      created[e.id] = true
      placed[i] = {'created', e.id}
    elseif e.from ~= '' then
      placed[i] = {'repeated', id, memory(id)}
    else
      rest_on(id, e)
      placed[i] = {'reinforced', id, memory(id)}
    end
  end
end
if for_good then
  extend(index, nil)
elseif latest then
  extend(index, latest, fresh)
end
return sealed(placed)
"""
)

UPDATE = (
    COMMON
    + VECTORS
    + LIFE
    + """
local id = take()
local wanted = take()
if not exists(id) then return {} end
if wanted ~= '' and tonumber(wanted) ~= tonumber(redis.call('ZSCORE', index, '+' .. id)) then return {'changed'} end
local key, old = item(id), redis.call('HMGET', item(id), 'k', 'e', 'f', 'n')
local vectors = {}
for _, field in ipairs(redis.call('HKEYS', key)) do
  if field:sub(1, 1) == 'v' then vectors[#vectors + 1] = field end
end
local b, s, t, k, pinned = take(), take(), take(), take(), take()
local fields = vectors_into({'b', b, 's', s, 't', t, 'k', k})
redis.call('HSET', key, unpack(fields))
local new = {}
for i = 1, #fields, 2 do new[fields[i]] = true end
for _, field in ipairs(vectors) do
  if not new[field] then redis.call('HDEL', key, field) end
end
local till = last_day(old[2], old[3], pinned)
extend(key, till, true)
if old[1] ~= '' then redis.call('ZREM', same(old[1]), id) end
if k ~= '' then join(k, id, old[4], till, redis.call('EXISTS', same(k)) == 0) end
changed(id)
extend(index, till, false)
return sealed(memory(id))
"""
)

EMBED = (
    COMMON
    + VECTORS
    + """
for _ = 1, tonumber(take()) do
  local id = take()
  if exists(id) then
    redis.call('HSET', item(id), unpack(vectors_into({})))
    changed(id)
  else
    at = at + 1 + 2 * tonumber(ARGV[at + 1])
  end
end
return sealed(1)
"""
)

TOUCH = (
    COMMON
    + """
local when, there = take(), {}
for i = at + 1, #ARGV do
  local id = ARGV[i]
  if exists(id) then
    there[#there + 1] = id
    redis.call('HINCRBY', item(id), 'a', 1)
    if redis.call('HGET', item(id), 'l') < when then redis.call('HSET', item(id), 'l', when) end
    changed(id)
  end
end
return sealed({stamped or whole(version()), there})
"""
)

GET = (
    COMMON
    + ROWS_OF
    + """
if not standing() then return {{}, 0} end
local found, dropped = {}, {}
for i = at + 1, #ARGV do
  local id = ARGV[i]
  if exists(id) then
    found[#found + 1] = {id, memory(id)}
  elseif redis.call('ZSCORE', index, '+' .. id) then
    dropped[#dropped + 1] = id
  end
end
notice_all(dropped)
return sealed({found, noticed})
"""
)

REMOVE = (
    COMMON
    + GONE
    + """
local removed = {}
for i = at + 1, #ARGV, 2 do
  local id, wanted = ARGV[i], ARGV[i + 1]
  local score = exists(id) and redis.call('ZSCORE', index, '+' .. id)
  if score and (wanted == '' or tonumber(wanted) == tonumber(score)) then
    local digest = redis.call('HGET', item(id), 'k')
    redis.call('DEL', item(id))
    gone(id)
    if digest ~= '' then redis.call('ZREM', same(digest), id) end
    removed[#removed + 1] = id
  end
end
forget_gone()
return sealed(removed)
"""
)

ROWS = (
    COMMON
    + ROWS_OF
    + """
local ids = {}
for i = at + 1, #ARGV do ids[#ids + 1] = ARGV[i] end
local rows = rows_of(ids)
return sealed({rows, noticed})
"""
)

CHANGES = (
    COMMON
    + ROWS_OF
    + """
local since, most = tonumber(take()), tonumber(take())
if not standing() then return {'0', 1, {}, {}, 1, 0} end
local last = version()
local floor = tonumber(redis.call('ZSCORE', index, '#floor') or 0)
local all = since <= 0 or since > last or since < floor
local members
if all then
  members = redis.call('ZRANGE', index, 0, -1)
else
  members = redis.call('ZRANGEBYSCORE', index, '(' .. whole(since), '+inf')
end
local ids, removed = {}, {}
for _, member in ipairs(members) do
  local kind, id = member:sub(1, 1), member:sub(2)
  if kind == '+' then ids[#ids + 1] = id end
  if kind == '-' and not all then removed[#removed + 1] = id end
end
if #ids > most then return {whole(last), all and 1 or 0, removed, ids, 0, 0} end
local rows, dropped = rows_of(ids)
if not all then
  for _, id in ipairs(dropped) do removed[#removed + 1] = id end
end
return sealed({stamped or whole(last), all and 1 or 0, removed, rows, 1, noticed})
"""
)

FORGET = (
    COMMON
    + """
local count = 0
for _, member in ipairs(redis.call('ZRANGE', index, 0, -1)) do
  if member:sub(1, 1) == '+' then
    local key = item(member:sub(2))
    local digest = redis.call('HGET', key, 'k')
    if digest and digest ~= '' then redis.call('DEL', same(digest)) end
    count = count + redis.call('DEL', key)
  end
end
redis.call('DEL', index, base .. 'version')
return count
"""
)

STANDING = (
    COMMON
    + """
if not standing() then return 0 end
local from = 0
while true do
  local members = redis.call('ZREVRANGE', index, from, from + 99)
  if #members == 0 then return 1 end
  for _, member in ipairs(members) do
    if member:sub(1, 1) == '+' and redis.call('EXISTS', item(member:sub(2))) == 1 then return 2 end
  end
  from = from + 100
end
"""
)
"""0: nothing is left of the user; 1: no row stands, but readers may have to be told of removals; 2: a row stands."""
