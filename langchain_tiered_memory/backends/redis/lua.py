"""What the Lua scripts have in common.

A Redis that is out of memory refuses the first write of a script if it needs memory, and none after it. So a script
that adds begins with such a write, one that removes with a `DEL`, and neither stops half-way.

`KEYS[1]` is the index, `ARGV[1]` what the user's keys begin with. Instants are texts of equal length, so that they
compare as texts. Versions are whole numbers below 2^53.
"""

from __future__ import annotations

GONE_LIMIT = 1_000
"""Removed ids remembered per user; a reader that is further behind starts anew."""

COMMON = """
local index, base, at = KEYS[1], ARGV[1], 1
local function take() at = at + 1; return ARGV[at] end
local function whole(n) return string.format('%.0f', n) end
local function item(id) return base .. 'item:' .. id end
local function same(digest) return base .. 'same:' .. digest end
local function exists(id)
  return redis.call('ZSCORE', index, '+' .. id) and redis.call('EXISTS', item(id)) == 1
end
local function version()
  return tonumber(redis.call('ZREVRANGE', index, 0, 0, 'WITHSCORES')[2] or 0)
end
local function now()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end
local fresh, stamped = false, nil
local function stamp()
  if not stamped then
    local last = version()
    if last == 0 then
      fresh, last = true, now()
      redis.call('ZADD', index, whole(last), '#floor')
    end
    stamped = whole(last + 1)
  end
  return stamped
end
-- The version by itself, which a reader gets without a script. It is set last, and stands as long as the index.
local function seal(set)
  local left = redis.call('PTTL', index)
  if left > 0 then
    set('SET', base .. 'version', stamped, 'PX', whole(left))
  elseif left == -1 then
    set('SET', base .. 'version', stamped)
  end
end
local function sealed(answer)
  if stamped then seal(redis.call) end
  return answer
end
-- Without the index nothing stands; whoever reads the version is to learn that.
local function standing()
  if redis.call('EXISTS', index) == 1 then return true end
  redis.call('DEL', base .. 'version')
  return false
end
local function changed(id)
  redis.call('ZADD', index, stamp(), '+' .. id)
  if redis.call('ZREM', index, '-' .. id) == 1 then redis.call('ZINCRBY', index, -1, '#gone') end
end
local function memory(id)
  return redis.call('HMGET', item(id), 'h', 's', 'o', 'a', 'l', 'b')
end
"""

VECTORS = """
local function vectors_into(fields)
  for _ = 1, tonumber(take()) do
    local field, blob = take(), take()
    fields[#fields + 1] = field
    fields[#fields + 1] = blob
    if field ~= 'v0' then fields.many = true end
  end
  if fields.many then
    fields[#fields + 1] = 'm'
    fields[#fields + 1] = '1'
  end
  return fields
end
"""

LIFE = """
-- How long a key stands: as long as was asked by Redis's clock, and by the caller's; nil is for good.
local function last_day(ends, life, pinned)
  if ends == '' or pinned == '1' then return nil end
  return math.max(tonumber(ends), math.floor(now() / 1000) + tonumber(life))
end
local function extend(key, till, first)
  local left = redis.call('PTTL', key)
  if not till then
    redis.call('PERSIST', key)
  elseif first or (left >= 0 and math.floor(now() / 1000) + left < till) then
    redis.call('PEXPIREAT', key, whole(till))
  end
end
local function join(digest, id, created, till, first)
  redis.call('ZADD', same(digest), created, id)
  extend(same(digest), till, first)
end
"""

GONE = f"""
local GONE_LIMIT = {GONE_LIMIT}
local function forget_gone()
  local count = tonumber(redis.call('ZSCORE', index, '#gone') or 0)
  if count <= GONE_LIMIT then return end
  local all, floor = redis.call('ZRANGE', index, 0, -1, 'WITHSCORES'), nil
  for i = 1, #all, 2 do
    if count <= GONE_LIMIT / 2 then break end
    if all[i]:sub(1, 1) == '-' then
      redis.call('ZREM', index, all[i])
      floor, count = all[i + 1], count - 1
    end
  end
  redis.call('ZADD', index, floor, '#floor', count, '#gone')
end
local function gone(id)
  redis.call('ZADD', index, stamp(), '-' .. id)
  redis.call('ZREM', index, '+' .. id)
  redis.call('ZINCRBY', index, 1, '#gone')
end
"""

ROWS_OF = (
    GONE
    + """
-- What Redis dropped is noticed here, where the store can be written to; where it cannot, it is only left out.
local function notice(id)
  if not stamped then
    local next_version = whole(version() + 1)
    if type(redis.pcall('ZADD', index, next_version, '-' .. id)) == 'table' then return false end
    stamped = next_version
  end
  gone(id)
  return true
end
local noticed = 0
local function notice_all(dropped)
  for _, id in ipairs(dropped) do
    if not notice(id) then break end
    noticed = noticed + 1
  end
end
local function rows_of(ids)
  local rows, dropped = {}, {}
  for _, id in ipairs(ids) do
    local score = redis.call('ZSCORE', index, '+' .. id)
    local row = score and redis.call('HMGET', item(id), 'h', 's', 'o', 'a', 'l', 't', 'v0', 'm')
    if row and row[1] then
      local vectors = {}
      if row[8] then
        for _, field in ipairs(redis.call('HKEYS', item(id))) do
          if field:sub(1, 1) == 'v' then
            vectors[#vectors + 1] = field
            vectors[#vectors + 1] = redis.call('HGET', item(id), field)
          end
        end
      elseif row[7] then
        vectors = {'v0', row[7]}
      end
      rows[#rows + 1] = {id, score, {row[1], row[2], row[3], row[4], row[5]}, row[6], vectors}
    elseif score then
      dropped[#dropped + 1] = id
    end
  end
  notice_all(dropped)
  return rows, dropped
end
"""
)
