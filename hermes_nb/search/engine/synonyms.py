"""Words that people and tools use for one another: a small table from general knowledge.

A line is a group whose members stand for each other, a phrase written with hyphens; `a > b` means that who
says a may mean b, but not the other way round.
"""

from collections.abc import Iterator, Sequence

from hermes_nb.search.engine.words import stem

Phrase = tuple[str, ...]

_VERBS = """
get fetch retrieve read show view obtain lookup load describe
list enumerate show browse display get
search find query lookup discover locate
create add new make insert register generate build provision
delete remove drop erase destroy clear purge uninstall
update edit modify change patch set alter adjust
rename > update
send post publish submit push notify message
run execute invoke launch start trigger perform
stop cancel terminate kill abort halt end
pause suspend
resume continue restart
download export save fetch
upload import attach
copy duplicate clone replicate
compare diff difference
convert transform translate
check verify validate test inspect
summarize summary digest overview
schedule book reserve plan
analyze analysis analytics evaluate
calculate compute math
enable activate
disable deactivate
approve accept
reject deny decline
move transfer relocate
open launch
write save store
merge combine join concatenate
split separate divide
filter select
sort order rank
count number total
monitor watch track observe
subscribe follow
assign allocate
lock protect
encrypt cipher
decrypt decipher
compress zip archive
extract parse scrape
crawl scrape spider
translate language
draw plot render chart
visualize chart plot graph diagram
recommend suggest suggestion recommendation
buy purchase order
deploy release rollout
configure setup configuration
install setup
fix repair resolve solve
reply respond answer response
ask question
invite invitation
connect link
login signin authenticate
resize scale
detect recognize identify
explain describe
"""

_NOUNS = """
repo repository
db database
k8s kubernetes kube
pr pull-request
mr merge-request
ci continuous-integration
msg message
dm direct-message
mail email inbox
doc document documentation
docs documentation
file document
dir directory folder
img image picture photo
pic picture image photo
vid video clip
app application
config configuration setting preference
env environment
var variable
param parameter argument
auth authentication login
user account member person profile
people person
org organization organisation company
company business firm corporation
info information detail
stat statistic metric
status state health
ticket issue
bug issue defect error
error failure exception
task todo
meeting event appointment
calendar schedule agenda
weather forecast
stock share ticker equity
crypto cryptocurrency coin token
price cost quote rate
location place address
map location geocode
route direction navigation
flight airline plane
hotel accommodation lodging
restaurant dining
movie film
song track music
tv show series
web internet online
website site page url
link url
paper article publication research
scholar academic research
news headline article
currency exchange forex
sql query
table sheet
spreadsheet excel xlsx sheet
csv table
slide presentation powerpoint ppt pptx deck
word docx
note memo
log event
vm virtual-machine
machine computer server
container docker
cluster node
secret credential key password
permission access role
metric monitor
alert notification alarm
payment pay charge transaction
invoice bill
customer client
contact person
lead prospect
product item
order purchase
shop store
shopping ecommerce
discount coupon deal promotion
code source program
script program
branch ref
commit revision
version release
ui user-interface
ai artificial-intelligence llm
ml machine-learning
llm language-model
nlp natural-language
qr qrcode
ip ip-address
dns domain
geo location
gps location
lat latitude
lon longitude lng
temp temperature
num number
id identifier
tz time-zone timezone
time clock
transcript caption subtitle transcription
tts text-to-speech
stt speech-to-text
ocr text-recognition
screenshot capture
phone telephone mobile
car vehicle automobile
job career position vacancy employment
resume cv
recipe cook meal food
health medical
medicine drug medication
disease illness condition
patient medical
exercise workout fitness
travel trip tour
home house property
real-estate property
game play
sport match
quiz question
joke humor
quote saying
word vocabulary
definition dictionary meaning
book novel
author writer
picture drawing illustration
colour color
icon logo
font typeface
audio sound
voice speech
speaker voice
podcast audio
stream live
subscription plan
history past
backup snapshot
queue topic
bucket storage blob
function lambda serverless
endpoint api
webhook callback
schema structure
column field
row record entry
index catalog
cache redis
graph network
pipeline workflow
workflow automation
job task
thread conversation
conversation chat
channel room
comment remark
tag label
category type
group team
wiki page
browser web
captcha challenge
certificate ssl tls cert
vulnerability cve security
malware virus
threat attack
quota limit
cpu processor
gpu accelerator
memory ram
disk drive volume
network vnet
vpc virtual-network
gov government
law legal
tax vat
loan mortgage credit
bank finance
budget spending
crypto blockchain
wallet balance
nft token
university college school
course class lesson
student learner
kid child
animal pet
city town
country nation
language locale
holiday vacation
birthday date
"""


def synonyms() -> dict[Phrase, list[Phrase]]:
    """Give, for each phrase of stems, the phrases it may stand for."""
    table: dict[Phrase, list[Phrase]] = {}
    for group, targets in _groups():
        for phrase in group:
            known = table.setdefault(phrase, [])
            known += [other for other in targets if other != phrase and other not in known]
    return table


def _groups() -> Iterator[tuple[Sequence[Phrase], Sequence[Phrase]]]:
    for line in (_VERBS + _NOUNS).splitlines():
        source, arrow, target = line.partition(">")
        group, targets = _phrases(source), _phrases(target)
        if group:
            yield group, targets if arrow else group


def _phrases(text: str) -> list[Phrase]:
    return [tuple(stem(word) for word in phrase.split("-")) for phrase in text.split()]
