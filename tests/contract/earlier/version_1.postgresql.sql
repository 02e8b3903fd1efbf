CREATE TABLE ltm_gone (
	user_key VARCHAR NOT NULL,
	store VARCHAR NOT NULL,
	id VARCHAR NOT NULL,
	version BIGINT NOT NULL,
	PRIMARY KEY (user_key, store, id)
);
CREATE INDEX ltm_gone_version ON ltm_gone (user_key, store, version);
INSERT INTO ltm_gone ("user_key", "store", "id", "version") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'long_term', 'secret', 1796008218287356);
CREATE TABLE ltm_history (
	seq BIGSERIAL NOT NULL,
	user_key VARCHAR NOT NULL,
	memory_id VARCHAR NOT NULL,
	at BIGINT NOT NULL,
	kind VARCHAR NOT NULL,
	cause VARCHAR NOT NULL,
	memory VARCHAR,
	PRIMARY KEY (seq)
);
CREATE INDEX ltm_history_record ON ltm_history (user_key, memory_id);
INSERT INTO ltm_history ("seq", "user_key", "memory_id", "at", "kind", "cause", "memory") VALUES (1, 'c6ef43c47f8c23627ee5b9f8f5cb406c', 'peanuts', 1772355600000000, 'created', 'remember', '{"content":"I am allergic to peanuts","memory_type":"preference","importance":0.9828759666842724,"created_at":1772355600000000,"last_accessed":1772355600000000,"access_count":0,"id":"peanuts","observed_at":1772355600000000,"valid_to":null,"superseded_by":null,"slot":null,"session_id":null,"agent_id":null,"role":null,"name":null,"origin":"remember","source_ids":"[]","attached":"{}","pinned":0}');
INSERT INTO ltm_history ("seq", "user_key", "memory_id", "at", "kind", "cause", "memory") VALUES (2, 'c6ef43c47f8c23627ee5b9f8f5cb406c', '0788fc36447df81cbf67e06323f32005', 1772355600000000, 'created', 'remember', '{"content":"Ada works at Acme","memory_type":"fact","importance":0.8021838885585818,"created_at":1772355600000000,"last_accessed":1767225600000000,"access_count":0,"id":"0788fc36447df81cbf67e06323f32005","observed_at":1767225600000000,"valid_to":null,"superseded_by":null,"slot":"employer","session_id":null,"agent_id":null,"role":null,"name":null,"origin":"remember","source_ids":"[]","attached":"{}","pinned":0}');
INSERT INTO ltm_history ("seq", "user_key", "memory_id", "at", "kind", "cause", "memory") VALUES (3, 'c6ef43c47f8c23627ee5b9f8f5cb406c', '0788fc36447df81cbf67e06323f32005', 1772355600000000, 'superseded', 'eb14859ee767c5d4fbaa144e9d6798d1', '{"content":"Ada works at Acme","memory_type":"fact","importance":0.8021838885585818,"created_at":1772355600000000,"last_accessed":1767225600000000,"access_count":0,"id":"0788fc36447df81cbf67e06323f32005","observed_at":1767225600000000,"valid_to":1772355600000000,"superseded_by":"eb14859ee767c5d4fbaa144e9d6798d1","slot":"employer","session_id":null,"agent_id":null,"role":null,"name":null,"origin":"remember","source_ids":"[]","attached":"{}","pinned":0}');
INSERT INTO ltm_history ("seq", "user_key", "memory_id", "at", "kind", "cause", "memory") VALUES (4, 'c6ef43c47f8c23627ee5b9f8f5cb406c', 'eb14859ee767c5d4fbaa144e9d6798d1', 1772355600000000, 'created', 'remember', '{"content":"Ada works at Initech","memory_type":"fact","importance":0.8021838885585818,"created_at":1772355600000000,"last_accessed":1772355600000000,"access_count":0,"id":"eb14859ee767c5d4fbaa144e9d6798d1","observed_at":1772355600000000,"valid_to":null,"superseded_by":null,"slot":"employer","session_id":null,"agent_id":null,"role":null,"name":null,"origin":"remember","source_ids":"[]","attached":"{}","pinned":0}');
INSERT INTO ltm_history ("seq", "user_key", "memory_id", "at", "kind", "cause", "memory") VALUES (5, 'c6ef43c47f8c23627ee5b9f8f5cb406c', 'cello', 1772355600000000, 'created', 'remember', '{"content":"I love the cello.","memory_type":"episode","importance":0.9,"created_at":1772355600000000,"last_accessed":1772355600000000,"access_count":0,"id":"cello","observed_at":1772355600000000,"valid_to":null,"superseded_by":null,"slot":null,"session_id":null,"agent_id":null,"role":null,"name":null,"origin":"remember","source_ids":"[]","attached":"{}","pinned":0}');
INSERT INTO ltm_history ("seq", "user_key", "memory_id", "at", "kind", "cause", "memory") VALUES (6, 'c6ef43c47f8c23627ee5b9f8f5cb406c', 'secret', 1772355600000000, 'created', 'remember', NULL);
INSERT INTO ltm_history ("seq", "user_key", "memory_id", "at", "kind", "cause", "memory") VALUES (7, 'c6ef43c47f8c23627ee5b9f8f5cb406c', 'secret', 1772355600000000, 'forgotten', 'forget', NULL);
INSERT INTO ltm_history ("seq", "user_key", "memory_id", "at", "kind", "cause", "memory") VALUES (8, 'c6ef43c47f8c23627ee5b9f8f5cb406c', '53c4e529421c5e13259f87c3b5cee333', 1772355600000000, 'created', 'consolidate', '{"content":"I love the cello.","memory_type":"preference","importance":0.9,"created_at":1772355600000000,"last_accessed":1772355600000000,"access_count":0,"id":"53c4e529421c5e13259f87c3b5cee333","observed_at":1772355600000000,"valid_to":null,"superseded_by":null,"slot":null,"session_id":null,"agent_id":null,"role":null,"name":null,"origin":"consolidation","source_ids":"[\"cello\"]","attached":"{}","pinned":0}');
INSERT INTO ltm_history ("seq", "user_key", "memory_id", "at", "kind", "cause", "memory") VALUES (9, '465a9980543511be748a3c6ae202a78b', 'b7e7601ff5a090b44571931dc704b7d7', 1772355600000000, 'created', 'remember', '{"content":"Bob is ada''s friend","memory_type":"fact","importance":0.9,"created_at":1772355600000000,"last_accessed":1772355600000000,"access_count":0,"id":"b7e7601ff5a090b44571931dc704b7d7","observed_at":1772355600000000,"valid_to":null,"superseded_by":null,"slot":null,"session_id":null,"agent_id":null,"role":null,"name":null,"origin":"remember","source_ids":"[]","attached":"{}","pinned":0}');
SELECT setval('ltm_history_seq_seq', (SELECT coalesce(max(seq), 1) FROM ltm_history));
CREATE TABLE ltm_intents (
	user_key VARCHAR NOT NULL,
	whole INTEGER NOT NULL,
	id VARCHAR NOT NULL,
	user_id VARCHAR NOT NULL,
	PRIMARY KEY (user_key, whole, id)
);
CREATE TABLE ltm_item_vectors (
	user_key VARCHAR NOT NULL,
	id VARCHAR NOT NULL,
	passage INTEGER NOT NULL,
	indexed BOOLEAN NOT NULL,
	dimension INTEGER NOT NULL,
	model_id VARCHAR NOT NULL,
	text_hash VARCHAR NOT NULL,
	vector BYTEA NOT NULL,
	PRIMARY KEY (user_key, id, passage)
);
INSERT INTO ltm_item_vectors ("user_key", "id", "passage", "indexed", "dimension", "model_id", "text_hash", "vector") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'rain', 0, false, 8, 'hashed-4-grams/8', 'c313f17fc090d3ae9f6e692d4bbe73c2', '\x00000000627ea9bd933dfebe00000000627e293efbdd533f627e29be627ea9bd');
INSERT INTO ltm_item_vectors ("user_key", "id", "passage", "indexed", "dimension", "model_id", "text_hash", "vector") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'lisbon', 0, false, 8, 'hashed-4-grams/8', '4f5dc892295064f662fc02a1647c713c', '\x74c6b3be74c6b3be45b36fbe74c6b33e45b3efbd45b3ef3e74c6b3be45b3efbe');
CREATE TABLE ltm_items (
	seq BIGSERIAL NOT NULL,
	user_key VARCHAR NOT NULL,
	id VARCHAR NOT NULL,
	version BIGINT NOT NULL,
	ordinal BIGINT NOT NULL,
	memory_type VARCHAR NOT NULL,
	importance FLOAT NOT NULL,
	created_at BIGINT NOT NULL,
	last_accessed BIGINT NOT NULL,
	access_count BIGINT NOT NULL,
	observed_at BIGINT NOT NULL,
	valid_to BIGINT,
	superseded_by VARCHAR,
	pinned INTEGER NOT NULL,
	passages INTEGER NOT NULL,
	expires_at BIGINT,
	duplicate_within BIGINT,
	duplicate_digest VARCHAR,
	chain_digest VARCHAR,
	slot VARCHAR,
	session_id VARCHAR,
	agent_id VARCHAR,
	role VARCHAR,
	name VARCHAR,
	origin VARCHAR,
	source_ids VARCHAR NOT NULL,
	duplicate_key VARCHAR,
	terms VARCHAR NOT NULL,
	attached VARCHAR NOT NULL,
	content VARCHAR NOT NULL,
	PRIMARY KEY (seq),
	UNIQUE (user_key, id)
);
CREATE INDEX ltm_items_chain ON ltm_items (user_key, chain_digest);
CREATE INDEX ltm_items_duplicate ON ltm_items (user_key, duplicate_digest, created_at);
CREATE INDEX ltm_items_version ON ltm_items (user_key, version);
INSERT INTO ltm_items ("seq", "user_key", "id", "version", "ordinal", "memory_type", "importance", "created_at", "last_accessed", "access_count", "observed_at", "valid_to", "superseded_by", "pinned", "passages", "expires_at", "duplicate_within", "duplicate_digest", "chain_digest", "slot", "session_id", "agent_id", "role", "name", "origin", "source_ids", "duplicate_key", "terms", "attached", "content") VALUES (1, 'c6ef43c47f8c23627ee5b9f8f5cb406c', 'rain', 1796008218318806, 1772355600000000003, 'episode', 0.2, 1772355600000000, 1772355600000000, 1, 1772355600000000, NULL, NULL, 0, 1, 1772442000000000, 60000000, '88a2f60f94f99a8788314d286797ee43', NULL, NULL, NULL, NULL, NULL, NULL, 'remember', '[]', '9eb5a3a82cb4f09e88bef6c51a687738', '1 1 march 2026 rain quot more back slash 🌧', '{}', 'It rained; ''quotes'', "more", back\slash, 0, d800 and 🌧');
INSERT INTO ltm_items ("seq", "user_key", "id", "version", "ordinal", "memory_type", "importance", "created_at", "last_accessed", "access_count", "observed_at", "valid_to", "superseded_by", "pinned", "passages", "expires_at", "duplicate_within", "duplicate_digest", "chain_digest", "slot", "session_id", "agent_id", "role", "name", "origin", "source_ids", "duplicate_key", "terms", "attached", "content") VALUES (2, 'c6ef43c47f8c23627ee5b9f8f5cb406c', 'lisbon', 1796008218318806, 1772355600000000007, 'episode', 0.6341355910108007, 1772355600000000, 1772355600000000, 1, 1772355600000000, NULL, NULL, 0, 1, 1772442000000000, 60000000, NULL, NULL, NULL, 'chat', NULL, 'user', NULL, 'session', '[]', NULL, '1 1 march 2026 bob lisbon', '{}', 'I met Bob in Lisbon');
SELECT setval('ltm_items_seq_seq', (SELECT coalesce(max(seq), 1) FROM ltm_items));
CREATE TABLE ltm_ledger (
	user_key VARCHAR NOT NULL,
	id VARCHAR NOT NULL,
	PRIMARY KEY (user_key, id)
);
INSERT INTO ltm_ledger ("user_key", "id") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'cello');
CREATE TABLE ltm_messages (
	user_key VARCHAR NOT NULL,
	session_key VARCHAR NOT NULL,
	position BIGINT NOT NULL,
	message_key VARCHAR NOT NULL,
	placed BOOLEAN NOT NULL,
	system BOOLEAN NOT NULL,
	created_at BIGINT,
	tokens BIGINT NOT NULL,
	counter VARCHAR NOT NULL,
	role VARCHAR NOT NULL,
	session_id VARCHAR NOT NULL,
	agent_id VARCHAR,
	body VARCHAR NOT NULL,
	text VARCHAR,
	PRIMARY KEY (user_key, session_key, position),
	UNIQUE (user_key, session_key, message_key)
);
CREATE INDEX ltm_messages_system ON ltm_messages (user_key, session_key, position) WHERE system = true;
CREATE INDEX ltm_messages_unplaced ON ltm_messages (user_key, session_key, position) WHERE placed = false;
INSERT INTO ltm_messages ("user_key", "session_key", "position", "message_key", "placed", "system", "created_at", "tokens", "counter", "role", "session_id", "agent_id", "body", "text") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'c54efd770e4dd86d29eb355c8490db5a', 1796008219059190, 'c71f81ecc023578b6645d34803899bcf', true, false, 1772355600000000, 9, 'o200k_base/chat-1', 'user', 'chat', NULL, '{"id":"lisbon"}', 'I met Bob in Lisbon');
INSERT INTO ltm_messages ("user_key", "session_key", "position", "message_key", "placed", "system", "created_at", "tokens", "counter", "role", "session_id", "agent_id", "body", "text") VALUES ('10cc808208d1ad429594cf88af5a1a4c', 'c54efd770e4dd86d29eb355c8490db5a', 1796008219090649, 'feb813de520435c4c6bc6f674589dad0', true, true, 1772355600000000, 7, 'o200k_base/chat-1', 'system', 'chat', NULL, '{"id":"7d04f10b501849ff90a47e89eefbc568"}', 'Be brief.');
CREATE TABLE ltm_meta (
	key VARCHAR NOT NULL,
	value VARCHAR NOT NULL,
	PRIMARY KEY (key)
);
INSERT INTO ltm_meta ("key", "value") VALUES ('embedding_model', 'hashed-4-grams/8');
CREATE TABLE ltm_record_vectors (
	user_key VARCHAR NOT NULL,
	id VARCHAR NOT NULL,
	passage INTEGER NOT NULL,
	indexed BOOLEAN NOT NULL,
	dimension INTEGER NOT NULL,
	model_id VARCHAR NOT NULL,
	text_hash VARCHAR NOT NULL,
	vector BYTEA NOT NULL,
	PRIMARY KEY (user_key, id, passage)
);
CREATE INDEX ltm_record_vectors_unindexed ON ltm_record_vectors (user_key, id) WHERE indexed = false;
INSERT INTO ltm_record_vectors ("user_key", "id", "passage", "indexed", "dimension", "model_id", "text_hash", "vector") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'peanuts', 0, false, 8, 'hashed-4-grams/8', 'b2df15f50962e5ad4b89df44e0ed7676', '\x2439d9bec3d090bec3d090be000000002439d9bec3d0903ec3d010bfc3d090be');
INSERT INTO ltm_record_vectors ("user_key", "id", "passage", "indexed", "dimension", "model_id", "text_hash", "vector") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', '0788fc36447df81cbf67e06323f32005', 0, false, 8, 'hashed-4-grams/8', 'c227e45375c94176b88d251756a2ab32', '\x355828bf355828be355828be355828be5084fcbe355828be3558a8be3558a83e');
INSERT INTO ltm_record_vectors ("user_key", "id", "passage", "indexed", "dimension", "model_id", "text_hash", "vector") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'eb14859ee767c5d4fbaa144e9d6798d1', 0, false, 8, 'hashed-4-grams/8', '471c14a725e3b9f709d6ff4123a5934c', '\xb25f1abeb25f1a3e8b8fe7be00000000b25f9abeb25f9a3e8b8fe7beb25f1a3f');
INSERT INTO ltm_record_vectors ("user_key", "id", "passage", "indexed", "dimension", "model_id", "text_hash", "vector") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'cello', 0, false, 8, 'hashed-4-grams/8', '663cbb729e124d4dc1bb874515ff38bb', '\x8f8441bf0a0301be0a0381be000000000a0381be8f84c13e8f84c1be00000000');
INSERT INTO ltm_record_vectors ("user_key", "id", "passage", "indexed", "dimension", "model_id", "text_hash", "vector") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', '53c4e529421c5e13259f87c3b5cee333', 0, false, 8, 'hashed-4-grams/8', '663cbb729e124d4dc1bb874515ff38bb', '\x8f8441bf0a0301be0a0381be000000000a0381be8f84c13e8f84c1be00000000');
INSERT INTO ltm_record_vectors ("user_key", "id", "passage", "indexed", "dimension", "model_id", "text_hash", "vector") VALUES ('465a9980543511be748a3c6ae202a78b', 'b7e7601ff5a090b44571931dc704b7d7', 0, false, 8, 'hashed-4-grams/8', 'e6c9de31e17ad2134a71a5990ce3f9b9', '\xabaaaabe398e63be00000000398ee33e398ee3bd721c473f398ee3bd398ee3bd');
CREATE TABLE ltm_records (
	seq BIGSERIAL NOT NULL,
	user_key VARCHAR NOT NULL,
	id VARCHAR NOT NULL,
	version BIGINT NOT NULL,
	ordinal BIGINT NOT NULL,
	memory_type VARCHAR NOT NULL,
	importance FLOAT NOT NULL,
	created_at BIGINT NOT NULL,
	last_accessed BIGINT NOT NULL,
	access_count BIGINT NOT NULL,
	observed_at BIGINT NOT NULL,
	valid_to BIGINT,
	superseded_by VARCHAR,
	pinned INTEGER NOT NULL,
	passages INTEGER NOT NULL,
	expires_at BIGINT,
	duplicate_within BIGINT,
	duplicate_digest VARCHAR,
	chain_digest VARCHAR,
	slot VARCHAR,
	session_id VARCHAR,
	agent_id VARCHAR,
	role VARCHAR,
	name VARCHAR,
	origin VARCHAR,
	source_ids VARCHAR NOT NULL,
	duplicate_key VARCHAR,
	terms VARCHAR NOT NULL,
	attached VARCHAR NOT NULL,
	content VARCHAR NOT NULL,
	PRIMARY KEY (seq),
	UNIQUE (user_key, id)
);
CREATE INDEX ltm_records_chain ON ltm_records (user_key, chain_digest);
CREATE INDEX ltm_records_duplicate ON ltm_records (user_key, duplicate_digest, created_at);
CREATE INDEX ltm_records_version ON ltm_records (user_key, version);
INSERT INTO ltm_records ("seq", "user_key", "id", "version", "ordinal", "memory_type", "importance", "created_at", "last_accessed", "access_count", "observed_at", "valid_to", "superseded_by", "pinned", "passages", "expires_at", "duplicate_within", "duplicate_digest", "chain_digest", "slot", "session_id", "agent_id", "role", "name", "origin", "source_ids", "duplicate_key", "terms", "attached", "content") VALUES (1, 'c6ef43c47f8c23627ee5b9f8f5cb406c', 'peanuts', 1796008218287358, 1772355600000000000, 'preference', 0.9828759666842724, 1772355600000000, 1772355600000000, 1, 1772355600000000, NULL, NULL, 0, 1, NULL, NULL, '2444a93fdff444123e3e9c18d63ff8e6', NULL, NULL, NULL, NULL, NULL, NULL, 'remember', '[]', 'c61532b190ba7788c04325671c41468d', '1 1 march 2026 allerg peanut', '{}', 'I am allergic to peanuts');
INSERT INTO ltm_records ("seq", "user_key", "id", "version", "ordinal", "memory_type", "importance", "created_at", "last_accessed", "access_count", "observed_at", "valid_to", "superseded_by", "pinned", "passages", "expires_at", "duplicate_within", "duplicate_digest", "chain_digest", "slot", "session_id", "agent_id", "role", "name", "origin", "source_ids", "duplicate_key", "terms", "attached", "content") VALUES (2, 'c6ef43c47f8c23627ee5b9f8f5cb406c', '0788fc36447df81cbf67e06323f32005', 1796008218287353, 1772355600000000001, 'fact', 0.8021838885585818, 1772355600000000, 1767225600000000, 0, 1767225600000000, 1772355600000000, 'eb14859ee767c5d4fbaa144e9d6798d1', 0, 1, NULL, NULL, NULL, '132faee9674bf7a2d693c231236bc0c9', 'employer', NULL, NULL, NULL, NULL, 'remember', '[]', NULL, '1 1 januari 2026 ada work acm', '{}', 'Ada works at Acme');
INSERT INTO ltm_records ("seq", "user_key", "id", "version", "ordinal", "memory_type", "importance", "created_at", "last_accessed", "access_count", "observed_at", "valid_to", "superseded_by", "pinned", "passages", "expires_at", "duplicate_within", "duplicate_digest", "chain_digest", "slot", "session_id", "agent_id", "role", "name", "origin", "source_ids", "duplicate_key", "terms", "attached", "content") VALUES (3, 'c6ef43c47f8c23627ee5b9f8f5cb406c', 'eb14859ee767c5d4fbaa144e9d6798d1', 1796008218287353, 1772355600000000002, 'fact', 0.8021838885585818, 1772355600000000, 1772355600000000, 0, 1772355600000000, NULL, NULL, 0, 1, NULL, NULL, NULL, '132faee9674bf7a2d693c231236bc0c9', 'employer', NULL, NULL, NULL, NULL, 'remember', '[]', NULL, '1 1 march 2026 ada work initech', '{}', 'Ada works at Initech');
INSERT INTO ltm_records ("seq", "user_key", "id", "version", "ordinal", "memory_type", "importance", "created_at", "last_accessed", "access_count", "observed_at", "valid_to", "superseded_by", "pinned", "passages", "expires_at", "duplicate_within", "duplicate_digest", "chain_digest", "slot", "session_id", "agent_id", "role", "name", "origin", "source_ids", "duplicate_key", "terms", "attached", "content") VALUES (4, 'c6ef43c47f8c23627ee5b9f8f5cb406c', 'cello', 1796008218287358, 1772355600000000004, 'episode', 0.9, 1772355600000000, 1772355600000000, 1, 1772355600000000, NULL, NULL, 0, 1, NULL, 60000000, '3391f7454769c18dbb7490977299f644', NULL, NULL, NULL, NULL, NULL, NULL, 'remember', '[]', '8c339246de1e21562c468bca2fcf8c91', '1 1 march 2026 love cello', '{}', 'I love the cello.');
INSERT INTO ltm_records ("seq", "user_key", "id", "version", "ordinal", "memory_type", "importance", "created_at", "last_accessed", "access_count", "observed_at", "valid_to", "superseded_by", "pinned", "passages", "expires_at", "duplicate_within", "duplicate_digest", "chain_digest", "slot", "session_id", "agent_id", "role", "name", "origin", "source_ids", "duplicate_key", "terms", "attached", "content") VALUES (5, 'c6ef43c47f8c23627ee5b9f8f5cb406c', '53c4e529421c5e13259f87c3b5cee333', 1796008218287358, 1772355600000000006, 'preference', 0.9, 1772355600000000, 1772355600000000, 1, 1772355600000000, NULL, NULL, 0, 1, NULL, NULL, 'e6a64d21768fc94644af206effb309c9', NULL, NULL, NULL, NULL, NULL, NULL, 'consolidation', '["cello"]', 'ac78f98d543aed127cfd686b8a79de51', '1 1 march 2026 love cello', '{}', 'I love the cello.');
INSERT INTO ltm_records ("seq", "user_key", "id", "version", "ordinal", "memory_type", "importance", "created_at", "last_accessed", "access_count", "observed_at", "valid_to", "superseded_by", "pinned", "passages", "expires_at", "duplicate_within", "duplicate_digest", "chain_digest", "slot", "session_id", "agent_id", "role", "name", "origin", "source_ids", "duplicate_key", "terms", "attached", "content") VALUES (6, '465a9980543511be748a3c6ae202a78b', 'b7e7601ff5a090b44571931dc704b7d7', 1796008219089523, 1772355600000000008, 'fact', 0.9, 1772355600000000, 1772355600000000, 0, 1772355600000000, NULL, NULL, 0, 1, NULL, NULL, '3a7f1b119ae86ae4f9ece5d557e9d940', NULL, NULL, NULL, NULL, NULL, NULL, 'remember', '[]', '3d4ac0af98ed81a910071e0b93bb47ec', '1 1 march 2026 bob ada friend', '{}', 'Bob is ada''s friend');
SELECT setval('ltm_records_seq_seq', (SELECT coalesce(max(seq), 1) FROM ltm_records));
CREATE TABLE ltm_removals (
	user_key VARCHAR NOT NULL,
	ref VARCHAR NOT NULL,
	PRIMARY KEY (user_key, ref)
);
INSERT INTO ltm_removals ("user_key", "ref") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'secret#0');
CREATE TABLE ltm_schema (
	version SERIAL NOT NULL,
	PRIMARY KEY (version)
);
INSERT INTO ltm_schema ("version") VALUES (1);
CREATE TABLE ltm_state (
	user_key VARCHAR NOT NULL,
	store VARCHAR NOT NULL,
	version BIGINT NOT NULL,
	floor BIGINT NOT NULL,
	user_id VARCHAR NOT NULL,
	PRIMARY KEY (user_key, store)
);
INSERT INTO ltm_state ("user_key", "store", "version", "floor", "user_id") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'long_term', 1796008218287358, 1796008218287351, 'ada');
INSERT INTO ltm_state ("user_key", "store", "version", "floor", "user_id") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'short_term', 1796008218318806, 1796008218318803, 'ada');
INSERT INTO ltm_state ("user_key", "store", "version", "floor", "user_id") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'transcripts', 1796008219059190, 1796008219059190, 'ada');
INSERT INTO ltm_state ("user_key", "store", "version", "floor", "user_id") VALUES ('465a9980543511be748a3c6ae202a78b', 'long_term', 1796008219089523, 1796008219089523, 'bob''s');
INSERT INTO ltm_state ("user_key", "store", "version", "floor", "user_id") VALUES ('10cc808208d1ad429594cf88af5a1a4c', 'transcripts', 1796008219090649, 1796008219090649, 'carl');
CREATE TABLE ltm_tombstones (
	user_key VARCHAR NOT NULL,
	id VARCHAR NOT NULL,
	PRIMARY KEY (user_key, id)
);
INSERT INTO ltm_tombstones ("user_key", "id") VALUES ('c6ef43c47f8c23627ee5b9f8f5cb406c', 'secret');
