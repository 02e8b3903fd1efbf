"""Conversations in other languages than English, recalled by their words alone: the embedder knows nothing."""

from __future__ import annotations

import pytest

from langchain_tiered_memory import MemorySystem
from tests.flow.systems import QUIET, FailingEmbedder

TALKS: dict[str, tuple[list[str], dict[str, int]]] = {
    "Chinese": (
        [
            "我对花生过敏，吃了会起疹子。",
            "我妹妹在上海的一家医院当护士。",
            "上周末我们去西湖划船了。",
            "我的狗叫豆豆，今年三岁。",
            "我打算明年春天学习弹钢琴。",
            "办公室的门禁密码换成了4711。",
        ],
        {
            "妹妹在哪里工作？": 1,
            "狗叫什么名字？": 3,
            "我不能吃什么，花生可以吗？": 0,
            "什么时候学钢琴？": 4,
            "门禁密码是多少？": 5,
        },
    ),
    "Japanese": (
        [
            "私はピーナッツアレルギーがあります。",
            "妹は大阪の病院で看護師をしています。",
            "先週末、家族と京都へ旅行しました。",
            "飼っている猫の名前はモモです。",
            "来年の春からピアノを習うつもりです。",
            "玄関の暗証番号は4711に変わりました。",
        ],
        {
            "妹はどこの病院で働いていますか？": 1,
            "猫の名前は何ですか？": 3,
            "ピアノはいつから習いますか？": 4,
            "暗証番号は？": 5,
        },
    ),
    "Korean": (
        [
            "저는 땅콩 알레르기가 있어요.",
            "여동생은 부산 병원에서 간호사로 일해요.",
            "지난 주말에 제주도로 여행을 갔어요.",
            "우리 고양이 이름은 나비예요.",
            "내년 봄에 피아노를 배울 거예요.",
            "사무실 비밀번호는 4711로 바뀌었어요.",
        ],
        {
            "여동생은 어디에서 일해요?": 1,
            "고양이의 이름이 뭐예요?": 3,
            "피아노는 언제 배워요?": 4,
            "사무실의 비밀번호?": 5,
        },
    ),
    "Russian": (
        [
            "У меня аллергия на арахис.",
            "Моя сестра работает медсестрой в больнице в Казани.",
            "В прошлые выходные мы катались на лодке по озеру.",
            "Мою собаку зовут Бублик, ей три года.",
            "Весной я собираюсь учиться играть на пианино.",
            "Код от двери офиса теперь 4711.",
        ],
        {
            "Где работают мои сёстры?": 1,
            "Как зовут собак?": 3,
            "Есть ли аллергии?": 0,
            "На каких лодках мы катались?": 2,
        },
    ),
    "Arabic": (
        [
            "عندي حساسية من الفول السوداني.",
            "أختي تعمل ممرضة في مستشفى في القاهرة.",
            "في عطلة الأسبوع الماضي ذهبنا إلى البحيرة بالقارب.",
            "كلبي اسمه بندق وعمره ثلاث سنوات.",
            "سأتعلم العزف على البيانو في الربيع القادم.",
            "رمز باب المكتب أصبح 4711.",
        ],
        {"في أي مستشفى تعمل أختي؟": 1, "متى أتعلم البيانو؟": 4, "ما هو رمز المكتب؟": 5, "هل عندي حساسية؟": 0},
    ),
    "German": (
        [
            "Ich bin gegen Erdnüsse allergisch.",
            "Meine Schwester arbeitet als Krankenpflegerin in Leipzig.",
            "Am Wochenende sind wir mit den Fahrrädern um den See gefahren.",
            "Mein Hund heißt Krümel und ist drei Jahre alt.",
            "Im Frühling möchte ich Klavier spielen lernen.",
            "Der Türcode im Büro ist jetzt 4711.",
        ],
        {
            "Wo arbeiten die Schwestern?": 1,
            "Wie heißen meine Hunde?": 3,
            "Welche Erdnuss ist schlecht für mich?": 0,
            "Wo ist mein Fahrrad?": 2,
        },
    ),
}


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [(language, question, at) for language, (_, asked) in TALKS.items() for question, at in asked.items()],
)
def test_what_was_said_is_recalled_by_its_words(language: str, question: str, answer: int) -> None:
    said = TALKS[language][0]
    embedder = FailingEmbedder()
    embedder.fails = True
    with MemorySystem.open(":memory:", embedder=embedder, settings=QUIET).sync as memory:
        chat = memory.session("ada", "chat")
        for text in said:
            chat.add({"role": "user", "content": text})

        best = memory.recall("ada", question, k=1)

    assert [hit.content for hit in best] == [said[answer]]
    assert best.failed == ("embedder",)
